# must: DYNAMIC_CODE_LOAD
from asteval import Interpreter

Interpreter()("x = 1")
