# must: DYNAMIC_CODE_LOAD
import _testcapi

_testcapi.run_in_subinterp("import os; os.system('id')")
