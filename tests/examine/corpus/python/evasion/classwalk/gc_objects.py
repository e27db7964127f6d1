# must: DYNAMIC_CODE_LOAD
import gc

[o for o in gc.get_objects() if getattr(o, "__name__", "") == "os"][0].system("id")
