# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import socket

socket.socket(socket.AF_UNIX).connect("/run/docker.sock")
