# must-not: ALL
import os

class Bench:
    def system(self, text):
        return text

def measure():
    os = Bench()
    return os.system("warm")
