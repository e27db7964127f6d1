# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import pkgutil

pkgutil.resolve_name("os:system")("id")
