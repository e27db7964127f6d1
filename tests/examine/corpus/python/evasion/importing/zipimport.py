# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import zipimport

zipimport.zipimporter("plugins.zip").load_module("x")
