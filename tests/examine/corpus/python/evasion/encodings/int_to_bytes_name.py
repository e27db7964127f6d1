# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, (126965465245037).to_bytes(6, "big").decode())("id")
