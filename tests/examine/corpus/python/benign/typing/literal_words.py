# must-not: ALL
from typing import Literal

Mode = Literal["exec", "eval", "open"]
