# must: DYNAMIC_CODE_LOAD
import sys

sys.settrace(lambda frame, event, value: frame.f_globals["__builtins__"])
