# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import builtins

real = builtins.__import__

def spy(name, *words):
    return real(name, *words)

builtins.__import__ = spy
