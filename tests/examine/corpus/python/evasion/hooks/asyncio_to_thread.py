# must: PROC_EXEC
# must-not: NET_ACCESS
import asyncio, os

asyncio.run(asyncio.to_thread(os.system, "id"))
