# must-not: ALL
class Socket:
    def __init__(self, size):
        self.size = size

wrench = Socket(13)
