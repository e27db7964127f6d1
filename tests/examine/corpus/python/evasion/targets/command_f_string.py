# must: PROC_EXEC
# must-not: NET_ACCESS
# target: PROC_EXEC git
import subprocess

GIT = "git"
subprocess.run([f"{GIT}", "push"])
