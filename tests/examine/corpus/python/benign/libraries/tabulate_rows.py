# must-not: ALL
from tabulate import tabulate

print(tabulate([[1, 2]], headers=["exec", "open"]))
