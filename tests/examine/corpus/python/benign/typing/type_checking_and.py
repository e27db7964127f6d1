# must-not: ALL
from typing import TYPE_CHECKING

if TYPE_CHECKING and 1:
    import subprocess
