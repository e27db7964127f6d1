# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

def f(o=os):
    pass

f.__defaults__[0].system("id")
