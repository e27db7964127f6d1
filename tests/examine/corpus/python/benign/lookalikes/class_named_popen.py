# must-not: ALL
class Popen:
    def __init__(self, words):
        self.words = words

Popen(["ls"])
