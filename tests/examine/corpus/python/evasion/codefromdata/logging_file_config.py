# must: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
# must-not: PROC_EXEC, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS conf/log.ini
import logging.config

logging.config.fileConfig("conf/log.ini")
