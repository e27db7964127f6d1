# must: PROC_EXEC
# must-not: NET_ACCESS
from typing import TYPE_CHECKING

TYPE_CHECKING or __import__("subprocess")
