# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
from ctypes import PyDLL

PyDLL(None).PyRun_SimpleString(b"x = 1")
