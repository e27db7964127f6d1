# must: PROC_EXEC
# must-not: DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from plumbum import local

local["ls"]("-l")
