# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
from importlib.metadata import entry_points

for point in entry_points(group="app.plugins"):
    point.load()
