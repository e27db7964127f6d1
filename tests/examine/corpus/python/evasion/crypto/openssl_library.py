# must: CRYPTO_PRIMITIVES
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from OpenSSL import crypto

crypto.PKey().generate_key(crypto.TYPE_RSA, 512)
