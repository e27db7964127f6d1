# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
print.__self__.eval("1")
