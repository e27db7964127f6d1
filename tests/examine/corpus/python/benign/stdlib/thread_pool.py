# must-not: ALL
from concurrent.futures import ThreadPoolExecutor

def double(x):
    return 2 * x

with ThreadPoolExecutor() as pool:
    print(list(pool.map(double, [1, 2])))
