# must: FS_READ_ROOTS
import glob

glob.glob0("/etc", "passwd")
