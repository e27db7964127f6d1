# must-not: ALL
import asyncio

async def one():
    await asyncio.sleep(0)
    return 1

async def main():
    print(await asyncio.gather(one(), one()))

asyncio.run(main())
