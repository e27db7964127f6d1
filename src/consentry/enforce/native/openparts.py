"""A folder with closed places in it, said as a list of what is open.

Landlock has rules that allow and none that deny, and a rule holds for all that lies below. So the
folders on the way to a closed place are taken apart: everything in them but that way is allowed by
its own name. They can be listed only where nothing closed below is a folder, whose names the same
rule would tell.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from consentry.base.values import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """What is open: single files, whole folders, and folders that can be listed and no more."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()

    def __add__(self, other: "Parts") -> "Parts":
        return Parts(
            self.files + other.files, self.folders + other.folders, self.listed + other.listed
        )

    @property
    def all(self) -> tuple[str, ...]:
        """What can be read."""
        return (*self.folders, *self.files)


def parts_around(root: Path, closed: Sequence[Path]) -> Parts:
    """What of a folder or file is open when some places in it are not; links are no part of it."""
    inside = [path for path in closed if path.is_relative_to(root)]
    if root in inside:
        return Parts()
    if not inside:
        return Parts(folders=(str(root),)) if root.is_dir() else Parts(files=(str(root),))
    found = Parts() if any(path.is_dir() for path in inside) else Parts(listed=(str(root),))
    files: list[str] = []
    folders: list[str] = []
    for entry in _entries(root):
        path = root / entry.name
        if any(each.is_relative_to(path) for each in inside):
            found += parts_around(path, inside)
        elif entry.is_dir(follow_symlinks=False):
            folders.append(str(path))
        elif entry.is_file(follow_symlinks=False):
            files.append(str(path))
    return found + Parts(tuple(files), tuple(folders))


def _entries(folder: Path) -> Sequence["os.DirEntry[str]"]:
    """In order; nothing where the caller may not look."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return ()
