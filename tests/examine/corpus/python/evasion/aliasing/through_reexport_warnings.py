# must-any: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
import warnings

warnings.sys.modules["os"].listdir("/etc")
