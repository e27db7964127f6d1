# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import six

six.sys.modules["os"].system("id")
