# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import asyncio

async def main(factory):
    await asyncio.get_running_loop().create_connection(factory, "example.com", 80)
