# must-any: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
import traceback

traceback.linecache.getlines("/etc/passwd")
