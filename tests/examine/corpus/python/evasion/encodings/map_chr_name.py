# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "".join(map(chr, [115, 121, 115, 116, 101, 109])))("id")
