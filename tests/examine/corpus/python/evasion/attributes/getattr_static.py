# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import inspect, os

inspect.getattr_static(os, "system")("id")
