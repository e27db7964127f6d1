# must: DYNAMIC_CODE_LOAD
import codecs

codecs.builtins.exec("x = 1")
