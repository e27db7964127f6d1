# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
from IPython import get_ipython

get_ipython().system("id")
