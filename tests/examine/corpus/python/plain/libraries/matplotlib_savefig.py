# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_WRITE_ROOTS out/plot.png
import matplotlib.pyplot as plt

plt.plot([1, 2])
plt.savefig("out/plot.png")
