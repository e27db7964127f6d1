# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
getattr(len.__self__, "exec")("x = 1")
