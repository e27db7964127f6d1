# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os, unicodedata

getattr(os, unicodedata.normalize("NFKC", "ｓystem"))("id")
