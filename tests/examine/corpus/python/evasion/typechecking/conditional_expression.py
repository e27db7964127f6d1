# must: PROC_EXEC
# must-not: NET_ACCESS
from typing import TYPE_CHECKING

x = None if TYPE_CHECKING else __import__("os").system("id")
