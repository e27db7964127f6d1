# must-any: FS_READ_ROOTS, NET_ACCESS
import numpy as np

np.loadtxt("https://example.com/a.txt")
