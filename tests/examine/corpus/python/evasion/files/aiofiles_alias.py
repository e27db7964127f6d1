# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from aiofiles import open as o

async def main():
    async with o("/etc/passwd") as stream:
        return await stream.read()
