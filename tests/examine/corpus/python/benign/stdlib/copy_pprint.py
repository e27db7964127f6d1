# must-not: ALL
import copy
import pprint

pprint.pprint(copy.deepcopy({"a": [1]}))
