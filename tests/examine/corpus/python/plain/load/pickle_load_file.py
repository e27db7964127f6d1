# must: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
# must-not: FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
# target: DYNAMIC_CODE_LOAD ANY
# target: FS_READ_ROOTS data/a.pickle
import pickle

print(pickle.load(open("data/a.pickle", "rb")))
