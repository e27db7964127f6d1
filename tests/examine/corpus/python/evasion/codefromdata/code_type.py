# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import types

types.CodeType(0, 0, 0, 0, 0, 0, b"", (), (), (), "", "", "", 1, b"", b"")
