# must: NET_ACCESS
# must-not: PROC_EXEC
from huggingface_hub import hf_hub_download

hf_hub_download("org/model", "config.json")
