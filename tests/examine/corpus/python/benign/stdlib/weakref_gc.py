# must-not: ALL
import gc
import weakref

class Node:
    pass

weakref.ref(Node())
gc.collect()
