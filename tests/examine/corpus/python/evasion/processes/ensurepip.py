# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import ensurepip

ensurepip.bootstrap()
