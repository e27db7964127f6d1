# must: PROC_EXEC
# must-not: NET_ACCESS
import pexpect

pexpect.run("id")
