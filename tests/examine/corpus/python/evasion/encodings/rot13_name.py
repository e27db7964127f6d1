# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import codecs, os

getattr(os, codecs.decode("flfgrz", "rot13"))("id")
