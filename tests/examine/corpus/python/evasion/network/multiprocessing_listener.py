# must: NET_ACCESS
from multiprocessing.connection import Listener

Listener(("127.0.0.1", 6000)).accept()
