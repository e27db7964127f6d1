# must: FS_READ_ROOTS
# must-not: FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS /etc/os-release
import platform

print(platform.freedesktop_os_release())
