# must-not: ALL
import re

WORD = re.compile(r"\w+", re.IGNORECASE | re.MULTILINE)
