"""What `trusted` may read: the host's tree, place by place, but for what is never granted.

The whole tree at once can be shown to nobody: it holds the kernel's own file systems. Its top is taken
name by name instead. Around what a run has in its own way (its own folders, its interpreter) and around
what is mounted further down, the neighbours are taken one by one, for a folder with a mount below it
cannot be shown to an ordinary user as one.

What comes to be at the top while a run goes on is not there for it. Where file systems mount themselves
when somebody looks, nobody looks.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal

from consentry.enforce.facts import HostView
from consentry.enforce.mounts import read_mounts
from consentry.enforce.roots import OWN_FOLDERS
from consentry.service.programsearch import is_protected
from consentry.surface.lattice import Surface
from consentry.surface.pattern import Anchor, Pattern, Wildcard
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import ProtectedRoots

_TOP: Final = Path("/")
_MOUNTS_ITSELF: Final = "autofs"
_RUNTIME: Final = "/usr"  # every run has it


def trusted_places(workspace: Path, protected: ProtectedRoots) -> tuple[Path, ...]:
    """What lies in the host's tree and may be shown; the workspace is shown anyway."""
    prefixes = (os.path.realpath(each) for each in (sys.prefix, sys.base_prefix))
    apart = {*OWN_FOLDERS, *prefixes, str(workspace), _RUNTIME}
    mounts = read_mounts(HostView(uid=os.getuid())) or ()
    apart |= {each.point for each in mounts if each.kind == _MOUNTS_ITSELF}
    borders = apart | {each.point for each in mounts}
    return tuple(_around(_TOP, frozenset(apart), frozenset(borders), protected))


def trusted_reads(places: Iterable[Path]) -> PatternScope:
    """As a surface says it: the workspace, the run's own folder, and these."""
    own = ["./", "/tmp/"]  # noqa: S108 - the box's own
    return Surface.of(read=[*own, *map(_spelled, places)]).fs_read_roots


def _around(
    folder: Path, apart: frozenset[str], borders: frozenset[str], protected: ProtectedRoots
) -> Iterator[Path]:
    for place in _entries(folder):
        name = str(place)
        if name in apart or not _may_be_shown(place, protected):
            continue
        if any(each.startswith(f"{name}/") for each in borders):
            yield from _around(place, apart, borders, protected)
        else:
            yield place


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder / name for name in os.listdir(folder))  # noqa: PTH208 - names alone
    except OSError:
        return []


def _may_be_shown(place: Path, protected: ProtectedRoots) -> bool:
    """A folder or file that is no link, can be read, and lies in no place that is never granted."""
    try:
        if place.is_symlink() or is_protected(place, protected):
            return False
        if place.is_dir():
            return os.access(place, os.R_OK | os.X_OK)
        return place.is_file() and os.access(place, os.R_OK)
    except OSError:
        return False


def _spelled(place: Path) -> str:
    below: Literal[Wildcard.FOLDERS] | None = Wildcard.FOLDERS if place.is_dir() else None
    return Pattern.literal(Anchor.ABSOLUTE, place.parts[1:], and_below=below).text
