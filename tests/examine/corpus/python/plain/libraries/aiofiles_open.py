# must: FS_WRITE_ROOTS
# must-not: FS_READ_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_WRITE_ROOTS out/a.txt
import aiofiles

async def main():
    async with aiofiles.open("out/a.txt", "w") as stream:
        await stream.write("x")
