# must-not: ALL
import math as tools
tools = {"system": 1}
tools["system"]
