# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import _tkinter

_tkinter.create().eval("exec id")
