# must-not: ALL
class Step:
    __slots__ = ("exec", "open", "socket")

    def __init__(self, socket):
        self.socket = socket
