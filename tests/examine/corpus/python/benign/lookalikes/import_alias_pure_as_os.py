# must-not: ALL
import math as os

print(os.floor(1.5))
