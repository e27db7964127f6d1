# must: PROC_EXEC
from distutils.ccompiler import new_compiler

new_compiler().compile(["evil.c"])
