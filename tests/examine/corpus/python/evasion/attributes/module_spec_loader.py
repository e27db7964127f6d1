# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
__spec__.loader.load_module("os")
