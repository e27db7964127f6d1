# must: PROC_EXEC
# must-not: NET_ACCESS
from asyncio import subprocess as s

async def main():
    await s.create_subprocess_shell("id")
