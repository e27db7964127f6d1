# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import logging

logging.sys.modules["os"].system("id")
