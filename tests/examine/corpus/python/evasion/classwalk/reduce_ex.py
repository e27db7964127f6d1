# must: DYNAMIC_CODE_LOAD
(1).__reduce_ex__(2)[0].__globals__["__builtins__"]["eval"]("1")
