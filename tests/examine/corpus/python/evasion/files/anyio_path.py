# must: FS_READ_ROOTS
# must-not: PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import anyio

async def main():
    return await anyio.Path("/etc/passwd").read_text()
