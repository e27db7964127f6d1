# must: PROC_EXEC
import platform

platform.popen("id")
