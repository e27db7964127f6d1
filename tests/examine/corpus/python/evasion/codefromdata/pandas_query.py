# must: DYNAMIC_CODE_LOAD
import pandas as pd

def pick(text):
    return pd.DataFrame({"a": [1]}).query(text, engine="python")
