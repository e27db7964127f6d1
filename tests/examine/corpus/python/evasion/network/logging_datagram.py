# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import logging.handlers as handlers

getattr(handlers, "Datagram" + "Handler")("log.example.com", 9)
