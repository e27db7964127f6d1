# must-not: ALL
from pathlib import PurePosixPath

print(PurePosixPath("docs") / "index.md", PurePosixPath("a/b").parent)
