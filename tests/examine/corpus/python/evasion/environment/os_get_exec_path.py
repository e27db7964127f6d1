# must: ENV_READ
import os

os.get_exec_path()
