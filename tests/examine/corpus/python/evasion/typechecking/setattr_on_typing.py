# must: PROC_EXEC
# must-not: NET_ACCESS
import typing

setattr(typing, "TYPE_CHECKING", True)
if typing.TYPE_CHECKING:
    import subprocess
