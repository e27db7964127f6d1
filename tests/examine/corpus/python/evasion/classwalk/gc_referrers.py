# must: DYNAMIC_CODE_LOAD
import gc

gc.get_referrers(print)[0]["eval"]("1")
