# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import codecs, os

getattr(os, codecs.decode("73797374656d", "hex").decode())("id")
