# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import pandas

pandas.read_json("https://example.com/a.json")
