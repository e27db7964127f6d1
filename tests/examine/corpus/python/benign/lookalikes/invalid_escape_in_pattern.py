# must-not: ALL
import re

WORD = re.compile("\d+\.\w")
