# must: NET_ACCESS
# must-not: PROC_EXEC
import _ssl

_ssl.PROTOCOL_TLS
