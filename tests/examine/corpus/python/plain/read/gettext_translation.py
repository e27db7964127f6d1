# must: FS_READ_ROOTS
# must-not: FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import gettext

print(gettext.translation("app", "locale"))
