# must: FS_WRITE_ROOTS
from filelock import FileLock

FileLock("out/x.lock").acquire()
