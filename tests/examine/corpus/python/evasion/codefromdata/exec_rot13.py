# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import codecs

exec(codecs.decode("cevag(1)", "rot13"))
