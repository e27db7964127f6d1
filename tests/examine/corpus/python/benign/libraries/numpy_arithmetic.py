# must-not: ALL
import numpy as np

print(np.arange(3).sum(), np.dot(np.eye(2), np.ones(2)))
