# must-not: ALL
import keyword
import token

print(keyword.iskeyword("exec"), token.NAME)
