# must-not: ALL
import os

try:
    int("x")
except os.error:
    pass
