# must: PROC_EXEC
# must-not: NET_ACCESS
from multiprocessing import Pool

with Pool(2) as pool:
    print(pool.map(abs, [-1]))
