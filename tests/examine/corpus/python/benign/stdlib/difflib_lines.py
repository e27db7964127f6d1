# must-not: ALL
import difflib

print(list(difflib.unified_diff(["a"], ["b"])))
