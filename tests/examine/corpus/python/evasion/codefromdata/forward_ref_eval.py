# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import typing

typing._eval_type(typing.ForwardRef("print(1)"), {}, {})
