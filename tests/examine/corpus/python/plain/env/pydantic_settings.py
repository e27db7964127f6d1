# must: ENV_READ
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from pydantic_settings import BaseSettings

class Settings(BaseSettings):
    token: str
