# must: ENV_READ
# must-not: NET_ACCESS, PROC_EXEC
import os, pickle

pickle.dumps(dict(os.environ))
