# must-any: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
import pip

pip.main(["install", "something"])
