# must: FS_WRITE_ROOTS
from send2trash import send2trash

send2trash("out/x")
