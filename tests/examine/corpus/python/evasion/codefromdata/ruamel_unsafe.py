# must: DYNAMIC_CODE_LOAD
from ruamel.yaml import YAML

def read(text):
    return YAML(typ="unsafe").load(text)
