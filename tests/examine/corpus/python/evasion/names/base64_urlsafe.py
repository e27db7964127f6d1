# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import base64, os

getattr(os, base64.urlsafe_b64decode("c3lzdGVt").decode())("id")
