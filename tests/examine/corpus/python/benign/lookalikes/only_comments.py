# must-not: ALL
# import socket
