"""A folder that one process at a time works with, for as long as that process lives."""

import fcntl
import os
from pathlib import Path
from typing import Final

WAIT: Final = fcntl.LOCK_EX
TRY: Final = fcntl.LOCK_EX | fcntl.LOCK_NB


def locked_folder(path: Path, how: int) -> int | None:
    """The folder, open, if it could be locked and is still the one of that name."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        opened = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None  # what is no folder of ours is nobody's to work with
    try:
        fcntl.flock(opened, how)
        named = path.stat(follow_symlinks=False)
    except (BlockingIOError, FileNotFoundError):
        os.close(opened)
        return None
    if named.st_ino != os.fstat(opened).st_ino:
        os.close(opened)
        return None
    return opened
