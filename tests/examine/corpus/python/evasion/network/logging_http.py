# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import logging.handlers

logging.handlers.HTTPHandler("log.example.com", "/x", method="POST")
