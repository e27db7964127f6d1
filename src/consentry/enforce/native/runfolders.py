"""The own folders of a run that nothing can be mounted for: made before it, removed after it.

They lie in the system's place for temporary folders, below one that is locked as long as its owner
lives, so that whoever comes next can tell what was left behind and remove it. What a program leaves
in them is a stranger's: folders that are closed, and deeper than any path is long.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.native.parent import own_folder, sweep_folders

_PREFIX: Final = "consentry-run-"
_AS_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PASSED_BY_OTHERS: Final = 0o711
_OWNER_ALL: Final = 0o700


@dataclass(frozen=True, slots=True)
class RunFolders:
    """What TMPDIR and HOME lead to."""

    tmp: str
    home: str


@contextmanager
def run_folders(uid: int, gid: int) -> Iterator[RunFolders]:
    """Folders of that user's, as long as this lasts."""
    sweep_folders(_PREFIX, empty)
    place, lock = own_folder(_PREFIX)
    top = Path(place)
    try:
        own = [top / name for name in ("tmp", "home")]
        for path in own:
            path.mkdir(_OWNER_ALL)
            os.chown(path, uid, gid)
        if uid != os.getuid():
            os.fchmod(lock, _PASSED_BY_OTHERS)
        yield RunFolders(*map(str, own))
    finally:
        # Where the run was lost sight of, it may still be ending; the next one sweeps then.
        with suppress(OSError):
            empty(lock)
            top.rmdir()
        os.close(lock)


def empty(top: int) -> None:
    """Removes all that lies in an open folder, of which nobody makes more.

    Folders are moved up before they are emptied, so that none is deeper than the first.
    """
    names = map(f"{os.urandom(8).hex()}-{{}}".format, count())
    waiting = _emptied(top, top, names)
    while waiting:
        name = waiting.pop()
        folder = os.open(name, _AS_FOLDER, dir_fd=top)
        try:
            waiting += _emptied(folder, top, names)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=top)


def _emptied(folder: int, top: int, names: Iterator[str]) -> list[str]:
    """Removes the files of a folder, and moves its folders up; gives the names they have there."""
    found: list[str] = []
    for name in os.listdir(folder):
        kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if not stat.S_ISDIR(kind):
            os.unlink(name, dir_fd=folder)
            continue
        _open_to_owner(name, folder)
        new = name if folder == top else next(names)
        if folder != top:
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=top)
        found.append(new)
    return found


def _open_to_owner(name: str, folder: int) -> None:
    """So that it can be listed and moved: this very folder, whatever has its name a moment later."""
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    held = os.open(name, flags, dir_fd=folder)
    try:
        Path(f"/proc/self/fd/{held}").chmod(_OWNER_ALL)
    finally:
        os.close(held)
