# must-not: ALL
from ast import literal_eval as eval

eval("[1, 2]")
