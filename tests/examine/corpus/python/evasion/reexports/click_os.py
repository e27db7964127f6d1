# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
from click import utils

utils.os.system("id")
