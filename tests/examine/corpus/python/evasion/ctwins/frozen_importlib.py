# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import _frozen_importlib

_frozen_importlib._gcd_import("os")
