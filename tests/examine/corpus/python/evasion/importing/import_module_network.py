# must: NET_ACCESS, DYNAMIC_CODE_LOAD
# must-not: PROC_EXEC
from importlib import import_module

client = import_module("http.client")
