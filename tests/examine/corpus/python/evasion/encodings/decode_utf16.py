# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, b"s\x00y\x00s\x00t\x00e\x00m\x00".decode("utf-16-le"))("id")
