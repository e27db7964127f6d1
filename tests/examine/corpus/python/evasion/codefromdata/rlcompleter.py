# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import rlcompleter

rlcompleter.Completer().complete("x.__class__.", 0)
