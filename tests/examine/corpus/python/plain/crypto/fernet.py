# must: CRYPTO_PRIMITIVES
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD
from cryptography.fernet import Fernet

Fernet(Fernet.generate_key()).encrypt(b"x")
