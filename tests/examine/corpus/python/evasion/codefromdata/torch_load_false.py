# must: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, ENV_READ, CRYPTO_PRIMITIVES
import torch

torch.load("a.pt", weights_only=False)
