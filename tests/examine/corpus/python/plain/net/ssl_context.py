# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import socket
import ssl

ssl.create_default_context().wrap_socket(socket.socket(), server_hostname="example.com")
