# must: DYNAMIC_CODE_LOAD
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
𝒷𝓊𝒾𝓁𝓉𝒾𝓃𝓈 = __builtins__
𝒷𝓊𝒾𝓁𝓉𝒾𝓃𝓈.eval("1")
