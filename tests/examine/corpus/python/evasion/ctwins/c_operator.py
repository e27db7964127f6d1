# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import _operator, os

_operator.attrgetter("system")(os)("id")
