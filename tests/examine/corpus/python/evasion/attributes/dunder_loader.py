# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
__loader__.load_module("os").system("id")
