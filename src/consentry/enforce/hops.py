"""Every name that is looked up on the way to a path: folders, links, and where the links lead.

Whoever controls one of them decides where the path ends. A look at the spelled path and at the
resolved one misses a link in between, so the way is walked as the kernel walks it, name by name.

A walk is a reading, made once: what it found may be changed before the path is opened. A name that
is missing counts as a folder yet to be made, and `..` after it leads back.
"""

import errno
import os
import stat
from pathlib import Path

from consentry.base.values import dataclass

MOST_LINKS = 40  # as many as the kernel follows


@dataclass(frozen=True, slots=True)
class Hop:
    """One name on the way, in a folder that has every link resolved; None when it is missing."""

    path: Path
    found: os.stat_result | None

    @property
    def is_link(self) -> bool:
        """Whether the way goes on where a link leads."""
        return self.found is not None and stat.S_ISLNK(self.found.st_mode)


def hops_to(path: Path, start: Path = Path("/")) -> tuple[Hop, ...]:
    """The hops of the way to `path`; a relative one begins in `start`, a resolved folder.

    `start`, `/` and what `..` leads back to are no hops. Raises the system's `OSError`, also for
    a loop of links.
    """
    hops: list[Hop] = []
    links = 0
    here = Path("/") if path.is_absolute() else start
    names = _names(str(path))
    while names:
        name = names.pop()
        if name == "..":
            here = here.parent
            continue
        hop = _looked_up(here / name)
        hops.append(hop)
        if not hop.is_link:
            here = hop.path
            continue
        links += 1
        if links > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = str(hop.path.readlink())
        here = Path("/") if target.startswith("/") else here
        names += _names(target)
    return tuple(hops)


def _names(text: str) -> list[str]:
    """The names of a path, the first one last."""
    return [name for name in reversed(text.split("/")) if name not in ("", ".")]


def _looked_up(path: Path) -> Hop:
    try:
        return Hop(path, path.lstat())
    except FileNotFoundError:
        return Hop(path, None)


def leads_through(path: Path, folder: Path, start: Path = Path("/")) -> bool:
    """Whether `path` ends in `folder`, a resolved path, or something in it decides where it ends.

    Passing the folder itself and leaving by `..` does not count: nothing in it has a say in that.
    A way that cannot be walked counts when it begins in the folder.
    """
    whole = start / path
    if Path(os.path.realpath(whole)).is_relative_to(folder):
        return True
    try:
        hops = hops_to(path, start)
    except OSError:
        return whole.is_relative_to(folder)
    return any(folder in hop.path.parents for hop in hops)
