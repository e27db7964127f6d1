# must: NET_ACCESS
from twisted.internet import reactor

reactor.connectTCP("example.com", 80, None)
