# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, ENV_READ, CRYPTO_PRIMITIVES
import pickle

pickle.loads(b"cos\nsystem\n(S'id'\ntR.")
