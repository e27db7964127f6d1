# must: PROC_EXEC
# must-not: NET_ACCESS
# target: PROC_EXEC git
import subprocess

REST = ["status"]
subprocess.run(["git", *REST])
