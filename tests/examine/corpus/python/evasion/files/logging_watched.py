# must: FS_WRITE_ROOTS
# must-not: PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from logging.handlers import WatchedFileHandler

WatchedFileHandler("out/app.log")
