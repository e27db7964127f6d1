# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import operator, shutil

operator.attrgetter("os.system")(shutil)("id")
