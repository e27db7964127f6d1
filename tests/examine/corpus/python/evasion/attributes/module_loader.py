# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
import json

json.__loader__.load_module("os").system("id")
