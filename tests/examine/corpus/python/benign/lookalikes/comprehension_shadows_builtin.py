# must-not: ALL
values = [open for open in (1, 2, 3)]
print(sum(values))
