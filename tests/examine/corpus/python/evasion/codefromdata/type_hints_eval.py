# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, ENV_READ, CRYPTO_PRIMITIVES
import typing

class A:
    x: "__import__('os').system('id')"

typing.get_type_hints(A)
