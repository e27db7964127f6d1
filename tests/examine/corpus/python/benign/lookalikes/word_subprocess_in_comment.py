# must-not: ALL
# subprocess.run(["ls"]) was removed here; eval(text) too
x = 1
