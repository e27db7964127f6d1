# must-not: ALL
from pathlib import PurePosixPath

print(PurePosixPath("/etc") / "passwd", PurePosixPath("a/b").parent)
