# must: PROC_EXEC
# must-not: NET_ACCESS
import multiprocessing, os

multiprocessing.Process(target=os.system, args=("id",)).run()
