# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import inspect

class A:
    x: "print(1)"

inspect.get_annotations(A, eval_str=True)
