"""The view `visible`: which parts of the host's tree are shown behind the grants, and how.

Everything that a run is granted, its runtime and its own folders are put in place as in the private
view. Below them, here, comes the rest of the host's tree at its own names: there to be looked up,
and closed by Landlock. Each folder is shown through a file system of its own that cannot be written,
so that no socket or pipe in it leads to anybody outside, and that a change of mode or time, which
Landlock does not govern, reaches nothing. What is protected or denied is not there.

A folder with something mounted below it, or in which the run gets something of its own, is shown
entry by entry: what lies below a mount cannot be shown without what it covers.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from consentry.enforce.confinement import Confinement
from consentry.enforce.facts import HostView
from consentry.enforce.mounts import Mount, read_mounts
from consentry.enforce.native.planparts import existing_places
from consentry.enforce.native.runtime import Runtime, Step
from consentry.enforce.roots import OWN_FOLDERS
from consentry.surface.protected import ProtectedRoot

Rows: TypeAlias = Iterable[ProtectedRoot]

MOST_ENTRIES: Final = 2000
"""A folder with more that would have to be shown one by one is left out but for what is needed."""

_ROOT: Final = Path("/")
# The box has its own of these, whatever the host's are.
_OWN: Final = tuple(map(Path, ("/dev", "/proc", "/sys", "/etc", "/run", *OWN_FOLDERS)))
_NO_FILES: Final = frozenset(
    {
        "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts",
        "devtmpfs", "efivarfs", "fusectl", "hugetlbfs", "mqueue", "nfsd", "nsfs", "proc", "pstore",
        "rpc_pipefs", "securityfs", "selinuxfs", "sysfs", "tracefs",
    }
)  # fmt: skip
"""File systems that are doors to the kernel: never shown, wherever they are mounted."""


def backdrop_steps(
    wanted: Confinement,
    runtime: Runtime,
    needed: Iterable[Path],
    home: Path | None,
    rows: Rows,
    *,
    as_stranger: bool,
) -> tuple[Step, ...]:
    """The steps that come before all others: the host's tree, but for what is not to be there.

    `needed` are the places at which something of the run's will be put, `rows` the protected roots.
    `as_stranger` says that the program is another user than the caller, whose folders it enters
    only where everybody may: on the way to what it needs, others hold nothing else.
    """
    patterns = (*wanted.denied, *(row.pattern for row in rows))
    hidden = frozenset(existing_places(patterns, wanted.workspace, home))
    provided = {Path(path) for path in runtime.roots}
    provided |= {Path(str(step[2])) for step in runtime.steps if step[0] == "link"}
    places = tuple(needed)
    closed = frozenset(
        above for path in places for above in path.parents if as_stranger and _is_closed(above)
    )
    walk = _Walk(hidden, provided, closed, places, read_mounts(HostView()) or ())
    return walk.steps()


def doors_to_the_kernel(mounts: Iterable[Mount]) -> frozenset[Path]:
    """The places at which one is mounted, wherever that is."""
    return frozenset(Path(mount.point) for mount in mounts if mount.kind in _NO_FILES)


def _is_closed(folder: Path) -> bool:
    """Whether a stranger may not enter it."""
    try:
        return not folder.stat().st_mode & stat.S_IXOTH
    except OSError:
        return False


class _Walk:
    def __init__(
        self,
        hidden: frozenset[Path],
        provided: set[Path],
        closed: frozenset[Path],
        needed: tuple[Path, ...],
        mounts: Iterable[Mount],
    ) -> None:
        doors = doors_to_the_kernel(mounts)
        self._hidden = hidden
        self._absent = hidden | doors | set(_OWN)
        self._skipped = self._absent | provided
        points = [Path(mount.point) for mount in mounts if mount.kind not in _NO_FILES]
        self._closed = closed
        # A place that is not there, or lies in one that is covered, has to be made.
        made = [
            path
            for path in needed
            if self._is_absent(path)
            or closed.intersection(path.parents)
            or not os.path.lexists(path)
        ]
        apart = (*_OWN, *doors, *points, *made)
        self._opened = {above for path in apart for above in path.parents}
        self._steps: list[Step] = []

    def steps(self) -> tuple[Step, ...]:
        self._open(_ROOT)
        shown = {Path(str(step[1])) for step in self._steps if step[0] == "show"}
        covered = [path for path in self._hidden if any(each in shown for each in path.parents)]
        return (*self._steps, *(("cover", str(path)) for path in sorted(covered)))

    def _is_absent(self, path: Path) -> bool:
        return path in self._absent or any(above in self._absent for above in path.parents)

    def _open(self, folder: Path) -> None:
        """Shows a folder entry by entry."""
        entries = sorted(_entries(folder), key=lambda entry: entry.name)
        if folder in self._closed or len(entries) > MOST_ENTRIES:
            needed = {path.name for path in self._opened if path.parent == folder}
            entries = [entry for entry in entries if entry.name in needed]
        for entry in entries:
            path = folder / entry.name
            if path in self._skipped:
                continue
            if entry.is_symlink():
                if path not in self._opened:
                    self._steps.append(("point", str(path.readlink()), str(path)))
            elif entry.is_dir(follow_symlinks=False):
                if path in self._opened:
                    self._steps.append(("dir", str(path)))
                    self._open(path)
                else:
                    self._steps.append(("show", str(path)))
            elif entry.is_file(follow_symlinks=False):
                self._steps.append(("show", str(path)))


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Nothing where the caller may not look; the program, who is no more than that, may not either."""
    try:
        with os.scandir(folder) as found:
            yield from found
    except OSError:
        return
