# must: NET_ACCESS
import zmq

zmq.Context().socket(zmq.REQ).connect("tcp://example.com:5555")
