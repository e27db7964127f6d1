# must-not: ALL
import queue
import threading

inbox = queue.Queue()
threading.Thread(target=inbox.put, args=(1,)).start()
print(inbox.get())
