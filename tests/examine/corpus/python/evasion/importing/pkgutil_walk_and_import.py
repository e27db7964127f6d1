# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import importlib, pkgutil

for found in pkgutil.iter_modules(["plugins"]):
    importlib.import_module(found.name)
