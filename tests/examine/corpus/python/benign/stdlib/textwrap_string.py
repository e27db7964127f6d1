# must-not: ALL
import string
import textwrap

print(textwrap.fill(string.ascii_letters, 10))
