# must-any: FS_READ_ROOTS, ENV_READ
from pathlib import Path

Path.home()
