# must: PROC_EXEC
# must-not: NET_ACCESS
import copyreg, os

copyreg.pickle(complex, lambda c: (os.system, ("id",)))
