# must: NET_ACCESS, DYNAMIC_CODE_LOAD
# must-not: CRYPTO_PRIMITIVES
import torch

torch.hub.load("org/repo", "model")
