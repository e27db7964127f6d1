# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from typing import TYPE_CHECKING

def prepare():
    global TYPE_CHECKING
    TYPE_CHECKING = True

def go():
    if TYPE_CHECKING:
        import subprocess
