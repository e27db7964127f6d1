# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import asyncio

async def main(handle):
    await asyncio.start_server(handle, "127.0.0.1", 8000)
