# must: CRYPTO_PRIMITIVES
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
# target: CRYPTO_PRIMITIVES rsa-512
from cryptography.hazmat.primitives.asymmetric import rsa

BITS = 512
rsa.generate_private_key(65537, BITS)
