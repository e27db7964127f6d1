# must: CRYPTO_PRIMITIVES
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

Cipher(algorithms.AES(b"k" * 16), modes.CBC(b"i" * 16)).encryptor()
