# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

class A:
    NAME = "getpid"

A.NAME = "system"
getattr(os, A.NAME)("id")
