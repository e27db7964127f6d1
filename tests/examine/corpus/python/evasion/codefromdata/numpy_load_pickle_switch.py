# must: DYNAMIC_CODE_LOAD, FS_READ_ROOTS
# must-not: NET_ACCESS
import numpy

numpy.load("x.npy", allow_pickle=1)
