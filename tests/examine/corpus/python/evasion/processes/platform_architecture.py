# must: PROC_EXEC
from platform import architecture

architecture()
