# must: NET_ACCESS, DYNAMIC_CODE_LOAD
# must-not: PROC_EXEC, CRYPTO_PRIMITIVES
from transformers import AutoModel

AutoModel.from_pretrained("org/model", trust_remote_code=True)
