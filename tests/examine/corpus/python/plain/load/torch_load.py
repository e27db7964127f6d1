# must: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, ENV_READ, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS models/a.pt
import torch

torch.load("models/a.pt")
