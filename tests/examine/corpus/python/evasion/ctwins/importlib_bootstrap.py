# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
from importlib import _bootstrap

_bootstrap._gcd_import("os")
