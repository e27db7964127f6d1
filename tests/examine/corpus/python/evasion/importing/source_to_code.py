# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import importlib.abc

class Loader(importlib.abc.SourceLoader):
    def get_data(self, path):
        return b"x = 1"

    def get_filename(self, name):
        return name

Loader().load_module("x")
