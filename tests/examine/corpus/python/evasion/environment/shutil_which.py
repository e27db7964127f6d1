# must-any: FS_READ_ROOTS, ENV_READ
import shutil

shutil.which("git")
