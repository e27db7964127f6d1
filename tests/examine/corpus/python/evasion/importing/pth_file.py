# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC
from pathlib import Path

Path("/usr/lib/python3/dist-packages/x.pth").write_text("import os; os.system('id')")
