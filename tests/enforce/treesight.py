"""What a folder looks like to whoever walks it: used inside a box and outside, and compared."""

import hashlib
import os
import stat
from pathlib import Path
from typing import NamedTuple


class Sight(NamedTuple):
    """One path: its type, mode, content, attributes, and the first of its other names."""

    kind: str
    mode: int
    content: str
    attributes: tuple[tuple[str, str], ...]
    also: str


def sight_of(folder: str | os.PathLike[str]) -> dict[str, Sight]:
    """Everything below a folder, by relative path; odd bytes of names are kept as surrogates."""
    found: dict[str, Sight] = {}
    first: dict[int, str] = {}
    closed: list[tuple[str, int]] = []
    top = os.fspath(folder)
    for place, folders, files in os.walk(top):
        folders.sort()
        for name in sorted([*folders, *files]):
            path = f"{place}/{name}"
            relative = path.removeprefix(f"{top}/")
            status = os.lstat(path)
            also = first.setdefault(status.st_ino, relative)
            mode = 0 if stat.S_ISLNK(status.st_mode) else stat.S_IMODE(status.st_mode)
            found[relative] = Sight(
                _kind(status.st_mode), mode, _content(path, status), _attributes(path), also
            )
            if stat.S_ISDIR(status.st_mode) and mode & 0o500 != 0o500:
                closed.append((path, mode))
                Path(path).chmod(0o700)
    for path, mode in reversed(closed):
        Path(path).chmod(mode)
    return found


def _kind(mode: int) -> str:
    return {stat.S_IFDIR: "folder", stat.S_IFREG: "file", stat.S_IFLNK: "link"}.get(
        stat.S_IFMT(mode), "odd"
    )


def _content(path: str, status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return str(Path(path).readlink())
    if not stat.S_ISREG(status.st_mode):
        return ""
    if not os.access(path, os.R_OK):
        Path(path).chmod(stat.S_IMODE(status.st_mode) | 0o400)
        try:
            return _content(path, status)
        finally:
            Path(path).chmod(stat.S_IMODE(status.st_mode))
    with Path(path).open("rb") as content:
        return f"{status.st_size} {hashlib.file_digest(content, 'sha256').hexdigest()}"


def _attributes(path: str) -> tuple[tuple[str, str], ...]:
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError:
        return ()
    own = sorted(n for n in names if n.startswith("user.") and not n.startswith("user.overlay."))
    return tuple((n, os.getxattr(path, n, follow_symlinks=False).hex()) for n in own)
