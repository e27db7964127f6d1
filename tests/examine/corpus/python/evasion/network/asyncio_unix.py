# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import asyncio

async def main():
    await asyncio.open_unix_connection("/run/docker.sock")
