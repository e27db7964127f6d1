# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:443
import asyncio

async def main():
    reader, writer = await asyncio.open_connection("example.com", 443)
    writer.write(b"x")
