# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
import importlib

for name in ["json", "subprocess"]:
    importlib.import_module(name)
