# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import base64, zlib

exec(zlib.decompress(base64.b64decode(b"eJwrKMrMK9Ew1AQADpkC0g==")))
