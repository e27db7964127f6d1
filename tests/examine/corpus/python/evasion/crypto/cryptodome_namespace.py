# must: CRYPTO_PRIMITIVES
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
from Cryptodome.Cipher import ARC4

ARC4.new(b"k" * 16)
