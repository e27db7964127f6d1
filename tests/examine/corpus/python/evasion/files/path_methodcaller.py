# must-any: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
from operator import methodcaller
from pathlib import Path

methodcaller("read_text")(Path("/etc/passwd"))
