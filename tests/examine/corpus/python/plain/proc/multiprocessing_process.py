# must: PROC_EXEC
# must-not: NET_ACCESS, CRYPTO_PRIMITIVES
import multiprocessing

def work():
    return 1

multiprocessing.Process(target=work).start()
