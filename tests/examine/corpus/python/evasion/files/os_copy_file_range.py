# must-any: FS_READ_ROOTS, FS_WRITE_ROOTS
import os

os.copy_file_range(3, 4, 100)
