# must: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import numpy

def read(path, flag):
    return numpy.load(path, allow_pickle=flag)
