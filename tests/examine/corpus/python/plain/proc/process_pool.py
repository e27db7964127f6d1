# must: PROC_EXEC
# must-not: NET_ACCESS, CRYPTO_PRIMITIVES
from concurrent.futures import ProcessPoolExecutor

def double(x):
    return 2 * x

with ProcessPoolExecutor() as pool:
    print(list(pool.map(double, [1])))
