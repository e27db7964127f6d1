# must: PROC_EXEC
# must-not: NET_ACCESS
import multiprocessing

multiprocessing.set_executable("/bin/id")
