# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
import ctypes

ctypes.cdll["libc.so.6"].system(b"id")
