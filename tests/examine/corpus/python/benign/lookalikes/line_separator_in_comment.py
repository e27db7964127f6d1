# must-not: ALL
# a comment with a separator that is no line end in Python  import subprocess
value = 1
