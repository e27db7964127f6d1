# must: PROC_EXEC
# must-not: NET_ACCESS
import asyncio, os

asyncio.new_event_loop().call_soon(os.system, "id")
