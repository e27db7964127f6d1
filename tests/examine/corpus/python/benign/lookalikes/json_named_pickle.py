# must-not: ALL
import json as pickle

pickle.loads("[1]")
