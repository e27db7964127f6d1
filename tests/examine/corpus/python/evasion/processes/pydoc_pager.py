# must: PROC_EXEC
# must-not: NET_ACCESS
import pydoc

pydoc.pipepager("text", "id")
