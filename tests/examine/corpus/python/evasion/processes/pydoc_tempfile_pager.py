# must: PROC_EXEC
# must-not: NET_ACCESS
from pydoc import tempfilepager

tempfilepager("text", "id")
