# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
from ctypes import cdll

cdll.LoadLibrary("./evil.so")
