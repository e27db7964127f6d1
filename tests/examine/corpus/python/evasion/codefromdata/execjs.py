# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import execjs

execjs.eval("1 + 1")
