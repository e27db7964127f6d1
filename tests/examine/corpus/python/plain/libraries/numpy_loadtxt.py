# must: FS_READ_ROOTS
# must-not: FS_WRITE_ROOTS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS data/a.txt
import numpy as np

np.loadtxt("data/a.txt")
