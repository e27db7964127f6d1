# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
from idlelib.run import main

main()
