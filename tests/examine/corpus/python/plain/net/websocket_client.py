# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:443
import websockets

async def main():
    async with websockets.connect("wss://example.com/feed") as feed:
        return await feed.recv()
