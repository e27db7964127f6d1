# must: DYNAMIC_CODE_LOAD
import inspect

inspect.importlib.import_module("os")
