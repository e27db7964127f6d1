# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import base64, os

getattr(os, base64.b32decode("ON4XG5DFNU======").decode())("id")
