# must-not: ALL
import cmath
import numbers

print(isinstance(cmath.sqrt(-1), numbers.Complex))
