# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
from importlib.util import find_spec

find_spec("os").loader.load_module("os")
