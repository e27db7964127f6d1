# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

def make():
    o = os
    return lambda: o

make().__closure__[0].cell_contents.system("id")
