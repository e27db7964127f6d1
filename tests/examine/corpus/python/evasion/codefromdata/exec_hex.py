# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
exec(bytes.fromhex("7072696e742831 29".replace(" ", "")).decode())
