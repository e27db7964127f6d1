# must-not: ALL
name = input("name? ")
print("hello", name, sep=", ", end="!\n")
