# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os, string

getattr(os, string.Template("${a}tem").substitute(a="sys"))("id")
