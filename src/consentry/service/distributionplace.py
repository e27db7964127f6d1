"""The files of an installed distribution, as its own list of files has them; nothing is imported.

Metadata is read and not believed: a file that the list names and that lies outside of the
environment is not read, modules that Python compiled at installation are left out, and a file
that nobody listed is no part of the distribution, so that importing it is unclassified.
"""

import csv
import os
import re
import site
import sysconfig
from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.declare.patchbundle import Blob
from consentry.service.sourcefolder import opened_folder, read_beneath
from consentry.service.sources import MOST_FILES, Entry, NotRead, Skipped, unreadable

_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,198}[A-Za-z0-9])?", re.ASCII)
_COMPILED: Final = "/__pycache__/"
_SITES: Final = ("site-packages", "dist-packages")
_MOST_UP: Final = 3


def own_sites() -> tuple[Path, ...]:
    """Where this interpreter has what was installed; never the current folder."""
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    folders += site.getsitepackages()
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return tuple(dict.fromkeys(map(Path, folders)))


def find_distribution(name: str, sites: tuple[Path, ...]) -> "InstalledSource | None":
    """The distribution of that name; None where none of the folders has it."""
    if _NAME.fullmatch(name) is None:
        return None
    for folder in sites:
        found = next(iter(Distribution.discover(name=name, path=[str(folder)])), None)
        if found is not None:
            return InstalledSource(found, name, folder)
    return None


class InstalledSource:
    """All files of an installed distribution."""

    is_whole = True

    def __init__(self, distribution: Distribution, name: str, folder: Path) -> None:
        self.described = f"{name} {_version(distribution)}, installed in `{folder}`"
        # A script lies in `bin`, three folders up and one down again.
        real = Path(os.path.realpath(folder))
        is_usual = real.name in _SITES and len(real.parents) > _MOST_UP
        self._prefix = real.parents[_MOST_UP - 1] if is_usual else real
        self._places: dict[str, str] = {}
        self._outside: set[str] = set()
        self._not_read: set[NotRead] = set()
        for listed in _listed(distribution, name):
            self._place(listed, real)
        self._top = opened_folder(self._prefix)

    @property
    def count(self) -> int:
        """How many entries there will be."""
        return len(self._places) + len(self._outside)

    @property
    def not_read(self) -> tuple[NotRead, ...]:
        """What was left out on purpose, in order."""
        return tuple(sorted(self._not_read))

    def entries(self) -> Iterator[Entry]:
        """Every file in the order of names."""
        for path, place in sorted(self._places.items()):
            yield path, read_beneath(self._top, place)
        for path in sorted(self._outside):
            yield path, unreadable(path, "it lies outside of the environment")

    def has(self, path: str) -> bool:
        """Whether there is a file of that name."""
        return path in self._places

    def read(self, path: str) -> Blob | None:
        """The file of that name, if there is one and it can be read."""
        place = self._places.get(path)
        found = None if place is None else read_beneath(self._top, place)
        return found if isinstance(found, Blob) else None

    def close(self) -> None:
        """Lets go of the folder."""
        if self._top >= 0:
            os.close(self._top)
            self._top = -1

    def _place(self, listed: str, folder: Path) -> None:
        place = os.path.normpath(folder / listed)
        if "\0" in listed or not Path(place).is_relative_to(self._prefix):
            self._outside.add(listed)
            return
        path = os.path.relpath(place, folder)
        while path.startswith("../"):
            path = path[3:]
        if _COMPILED in f"/{path}" and path.endswith(".pyc"):
            self._not_read.add(NotRead(os.path.dirname(path), Skipped.COMPILED))  # noqa: PTH120 - no path of the disk
        elif not os.path.lexists(place):
            self._not_read.add(NotRead(path, Skipped.MISSING))
        else:
            self._places[path] = os.path.relpath(place, self._prefix)


def _version(distribution: Distribution) -> str:
    try:
        return str(distribution.version)
    except (KeyError, OSError, ValueError, AttributeError):
        return "of an unknown version"


def _listed(distribution: Distribution, name: str) -> list[str]:
    try:
        record = distribution.read_text("RECORD")
        if record is not None:
            listed = [row[0] for row in csv.reader(record.splitlines()) if row]
        else:
            listed = [str(each) for each in distribution.files or ()]
    except (OSError, ValueError, csv.Error, TypeError) as problem:
        raise _no_list(f"the list of files of `{name}` cannot be read") from problem
    if not listed:
        raise _no_list(f"`{name}` is installed without a list of its files")
    if len(listed) > MOST_FILES:
        raise _no_list(f"`{name}` has more than {MOST_FILES:,} files")
    return listed


def _no_list(message: str) -> UsageProblem:
    return UsageProblem(Code.FILE_UNUSABLE, message, help_line="name the folder that it lies in")
