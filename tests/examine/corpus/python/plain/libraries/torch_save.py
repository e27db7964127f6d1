# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
# target: FS_WRITE_ROOTS out/a.pt
import torch

torch.save({}, "out/a.pt")
