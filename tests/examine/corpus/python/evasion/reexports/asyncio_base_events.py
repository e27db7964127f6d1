# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import asyncio

asyncio.base_events.subprocess.Popen(["id"])
