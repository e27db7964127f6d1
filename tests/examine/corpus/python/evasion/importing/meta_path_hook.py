# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import sys

class Finder:
    def find_spec(self, name, path, target=None):
        return None

sys.meta_path.insert(0, Finder())
