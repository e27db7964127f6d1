# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import pydoc

pydoc.locate("os.system")("id")
