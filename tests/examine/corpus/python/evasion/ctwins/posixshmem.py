# must-any: FS_READ_ROOTS, FS_WRITE_ROOTS
import _posixshmem

_posixshmem.shm_open("/x", 0)
