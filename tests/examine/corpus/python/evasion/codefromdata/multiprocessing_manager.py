# must-any: NET_ACCESS, DYNAMIC_CODE_LOAD
from multiprocessing.managers import BaseManager

BaseManager(("example.com", 5000), b"k").connect()
