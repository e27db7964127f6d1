# must: DYNAMIC_CODE_LOAD
import pkgutil

pkgutil.get_loader("os").load_module("os")
