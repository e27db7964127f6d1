# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from logging.handlers import SysLogHandler

SysLogHandler(("log.example.com", 514))
