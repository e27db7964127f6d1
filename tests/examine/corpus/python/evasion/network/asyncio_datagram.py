# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import asyncio

async def main(factory):
    loop = asyncio.get_event_loop()
    await loop.create_datagram_endpoint(factory, remote_addr=("192.0.2.1", 53))
