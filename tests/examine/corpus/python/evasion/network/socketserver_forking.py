# must: NET_ACCESS
from socketserver import ForkingTCPServer

ForkingTCPServer(("127.0.0.1", 9), None)
