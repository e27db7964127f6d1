# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import tkinter

tkinter.Tcl().eval("exec id")
