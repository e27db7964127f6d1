# must-any: FS_READ_ROOTS, FS_WRITE_ROOTS, ENV_READ
import tempfile

tempfile.gettempdir()
