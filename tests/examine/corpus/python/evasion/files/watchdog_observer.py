# must: FS_READ_ROOTS
from watchdog.observers import Observer

Observer().schedule(None, "/etc")
