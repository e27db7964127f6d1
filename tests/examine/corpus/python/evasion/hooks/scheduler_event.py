# must: PROC_EXEC
# must-not: NET_ACCESS
import os, sched, time

sched.scheduler(time.time, time.sleep).enter(0, 1, os.system, ("id",))
