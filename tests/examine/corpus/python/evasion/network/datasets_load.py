# must: NET_ACCESS
from datasets import load_dataset

load_dataset("org/data")
