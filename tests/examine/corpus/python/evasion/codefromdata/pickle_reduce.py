# must: PROC_EXEC
# must-not: NET_ACCESS
import os, pickle

class Bomb:
    def __reduce__(self):
        return os.system, ("id",)

pickle.dumps(Bomb())
