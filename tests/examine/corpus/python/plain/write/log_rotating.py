# must: FS_WRITE_ROOTS
# must-not: PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_WRITE_ROOTS out/app.log
from logging.handlers import RotatingFileHandler

RotatingFileHandler("out/app.log", maxBytes=1000)
