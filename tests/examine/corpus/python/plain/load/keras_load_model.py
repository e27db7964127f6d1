# must: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
# must-not: PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
from keras.models import load_model

load_model("models/a.keras", safe_mode=False)
