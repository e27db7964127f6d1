# must: DYNAMIC_CODE_LOAD
import gzip

gzip.builtins.eval("1")
