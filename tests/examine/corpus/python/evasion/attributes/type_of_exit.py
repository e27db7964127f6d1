# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
type(exit).__init__.__globals__["sys"].modules["os"].system("id")
