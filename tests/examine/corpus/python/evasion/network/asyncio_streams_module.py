# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from asyncio.streams import open_connection

async def main():
    await open_connection("example.com", 80)
