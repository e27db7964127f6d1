# must-not: ALL
parts = ["https:", "", "example.com"]
print("/".join(parts))
