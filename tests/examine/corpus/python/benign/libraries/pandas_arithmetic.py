# must-not: ALL
import pandas as pd

frame = pd.DataFrame({"a": [1, 2]})
print(frame["a"].sum(), frame.groupby("a").size())
