# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
from scipy.io import loadmat

loadmat("data/a.mat")
