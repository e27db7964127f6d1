# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, ENV_READ, CRYPTO_PRIMITIVES
from IPython import get_ipython

get_ipython().run_cell("x = 1")
