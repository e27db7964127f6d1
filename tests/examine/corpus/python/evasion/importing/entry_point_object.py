# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
from importlib.metadata import EntryPoint

EntryPoint("x", "os:system", "g").load()("id")
