# must-not: ALL
try:
    int("x")
except ValueError as eval:
    print(eval.args)
