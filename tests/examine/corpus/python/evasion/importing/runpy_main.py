# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import runpy as r

r._run_module_as_main("package")
