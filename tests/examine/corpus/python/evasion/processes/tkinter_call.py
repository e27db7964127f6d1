# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
from tkinter import Tcl

Tcl().call("exec", "id")
