# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from pandas import read_html

read_html("https://example.com/")
