# must: DYNAMIC_CODE_LOAD
# must-not: CRYPTO_PRIMITIVES
from langchain_experimental.utilities import PythonREPL

PythonREPL().run("print(1)")
