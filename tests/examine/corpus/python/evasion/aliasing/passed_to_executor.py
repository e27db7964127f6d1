# must: PROC_EXEC
import os
from concurrent.futures import ThreadPoolExecutor

ThreadPoolExecutor().submit(os.system, "id")
