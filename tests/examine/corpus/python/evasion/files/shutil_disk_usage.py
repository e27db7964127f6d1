# must: FS_READ_ROOTS
import shutil

shutil.disk_usage("/")
