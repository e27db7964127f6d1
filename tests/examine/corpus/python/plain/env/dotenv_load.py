# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from dotenv import load_dotenv

load_dotenv(".env")
