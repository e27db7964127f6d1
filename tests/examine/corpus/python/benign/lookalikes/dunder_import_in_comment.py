# must-not: ALL
# __import__("os").system("id")
pass
