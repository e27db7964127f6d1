# must: PROC_EXEC
from distutils.spawn import spawn

spawn(["id"])
