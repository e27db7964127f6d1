# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import collections

collections._sys.modules["os"].system("id")
