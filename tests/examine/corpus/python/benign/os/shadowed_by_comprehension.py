# must-not: ALL
import os

class Machine:
    def system(self, text):
        return text

print([os.system("warm") for os in (Machine(), Machine())])
