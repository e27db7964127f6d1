# must-not: ALL
import math

print(math.sqrt(2), math.pi)
