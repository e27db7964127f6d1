# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "".join({"sys": 1, "tem": 2}))("id")
