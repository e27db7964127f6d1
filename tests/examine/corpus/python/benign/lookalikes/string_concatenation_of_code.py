# must-not: ALL
text = "ev" + "al" + "('1')"
print(text)
