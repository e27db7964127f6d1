# must-not: ALL
import time

time.sleep(0.1)
print(time.monotonic(), time.strftime("%Y"))
