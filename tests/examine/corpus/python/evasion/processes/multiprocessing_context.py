# must: PROC_EXEC
# must-not: NET_ACCESS
import multiprocessing as mp

mp.get_context("spawn").Process(target=print).start()
