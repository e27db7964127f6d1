# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from os import 𝚜𝚢𝚜𝚝𝚎𝚖 as f

f("id")
