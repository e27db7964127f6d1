# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import unittest.loader

unittest.loader.os.system("id")
