# must-not: ALL
from decimal import Decimal
from fractions import Fraction

print(Decimal("1.1") + 1, Fraction(1, 3))
