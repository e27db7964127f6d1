# must-any: FS_READ_ROOTS, FS_WRITE_ROOTS
from diskcache import Cache

Cache("out/cache")
