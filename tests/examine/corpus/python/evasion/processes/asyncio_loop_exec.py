# must: PROC_EXEC
# must-not: NET_ACCESS
import asyncio

async def main(protocol):
    loop = asyncio.get_running_loop()
    await loop.subprocess_exec(protocol, "id")
