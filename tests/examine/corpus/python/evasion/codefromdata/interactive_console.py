# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
from code import InteractiveConsole

InteractiveConsole().push("x = 1")
