# must-not: ALL
import asyncio

async def work(lock: asyncio.Lock, inbox: asyncio.Queue):
    async with lock:
        return await inbox.get()
