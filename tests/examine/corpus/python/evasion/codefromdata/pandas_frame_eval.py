# must: DYNAMIC_CODE_LOAD
import pandas as pd

def pick(text):
    frame = pd.DataFrame({"a": [1]})
    return frame.eval(text)
