# must: PROC_EXEC
# must-not: NET_ACCESS
from operator import methodcaller
import os

methodcaller("system", "id")(os)
