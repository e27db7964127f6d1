# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS api.example.com:80
import httpx

async def main():
    async with httpx.AsyncClient() as client:
        return await client.get("http://api.example.com/")
