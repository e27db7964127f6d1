# must-not: ALL
from enum import Enum

class Mode(Enum):
    EXEC = "exec"
    EVAL = "eval"

print(Mode.EXEC.value)
