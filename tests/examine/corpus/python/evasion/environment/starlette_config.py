# must: ENV_READ
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from starlette.config import Config

Config()("TOKEN")
