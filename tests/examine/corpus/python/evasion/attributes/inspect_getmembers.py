# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import inspect, os

dict(inspect.getmembers(os))["system"]("id")
