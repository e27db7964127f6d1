# must-not: ALL
import tomllib

print(tomllib.loads("a = 1"))
