# must: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS data/a.npy
import numpy as np

np.load("data/a.npy", allow_pickle=True)
