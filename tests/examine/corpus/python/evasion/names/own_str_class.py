# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

class str:
    def join(self, parts):
        return "system"

getattr(os, str().join(["get", "pid"]))("id")
