# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import socket

socket.fromfd(3, socket.AF_INET, socket.SOCK_STREAM)
