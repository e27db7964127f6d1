# must-not: ALL
from re import compile

WORD = compile("[a-z]+")
