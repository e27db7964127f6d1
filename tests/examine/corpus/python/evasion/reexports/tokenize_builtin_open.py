# must-any: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
import tokenize

tokenize._builtin_open("/etc/passwd")
