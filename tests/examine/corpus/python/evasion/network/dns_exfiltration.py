# must: NET_ACCESS
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from socket import gethostbyname as look

look("secret.example.com")
