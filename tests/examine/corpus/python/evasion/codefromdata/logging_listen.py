# must: NET_ACCESS, DYNAMIC_CODE_LOAD
# must-not: PROC_EXEC, CRYPTO_PRIMITIVES
import logging.config

logging.config.listen(9030).start()
