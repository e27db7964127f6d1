# must: PROC_EXEC
# must-not: NET_ACCESS, DYNAMIC_CODE_LOAD
import logging

logging.os.popen("id")
