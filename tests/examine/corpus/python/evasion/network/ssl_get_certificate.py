# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import ssl

ssl.get_server_certificate(("example.com", 443))
