# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, bytes.fromhex(hex(126965465245037)[2:]).decode())("id")
