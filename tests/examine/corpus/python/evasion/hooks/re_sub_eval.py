# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import re

re.sub(r"\d", lambda m: str(eval(m[0])), "1")
