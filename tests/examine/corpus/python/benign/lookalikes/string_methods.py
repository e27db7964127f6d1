# must-not: ALL
text = "import os"
text.encode().decode()
text.partition(" ")
text.translate({})
text.format()
