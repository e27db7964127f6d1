# must: PROC_EXEC
from plumbum.cmd import ls

ls()
