# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

class A:
    NAME = "getpid"

    def go(self):
        return getattr(os, self.NAME)("id")

class B(A):
    NAME = "system"
