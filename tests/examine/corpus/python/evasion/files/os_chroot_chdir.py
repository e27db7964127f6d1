# must-any: FS_READ_ROOTS, FS_WRITE_ROOTS
import os

os.chroot("/")
