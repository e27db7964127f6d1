# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os, zlib

getattr(os, zlib.decompress(zlib.compress(b"system")).decode())("id")
