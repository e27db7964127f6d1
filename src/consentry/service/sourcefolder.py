"""The files of a folder, or one file with those that it imports, as they lie on the disk.

A folder is walked without following a link and without recursion. Left out and said so: what version
control keeps for itself, modules that Python compiled, virtual environments below the folder, pipes,
sockets and devices. What git ignores is read: it can be imported all the same.

The tree of a lone file is the folder that its outermost package lies in; files of that tree are read
when something imports them.
"""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput, UsageProblem
from consentry.declare.patchbundle import MOST_BLOB, PLAIN_MODE, Blob
from consentry.enforce.filecalls import open_beneath
from consentry.examine.atoms import Unclassified
from consentry.examine.sides import EXECUTABLE, LINK
from consentry.service.sources import (
    MOST_FILES,
    Entry,
    NotRead,
    Skipped,
    too_large,
    unreadable,
)

_VERSIONS: Final = (b".git", b".hg", b".svn", b".bzr", b".jj")
_COMPILED: Final = b"__pycache__"
_COMPILED_ENDINGS: Final = (b".pyc", b".pyo")
_ENVIRONMENT: Final = b"pyvenv.cfg"
_PACKAGE: Final = "__init__.py"
_OWNER_EXECUTES: Final = 0o100
_MOST_LEVELS: Final = 64


class FolderSource:
    """All files below a folder."""

    is_whole = True

    def __init__(self, folder: Path, described: str) -> None:
        self.described = described
        self._top = opened_folder(folder)
        self._names: set[str] = set()
        self._unknown: dict[str, str] = {}
        self._not_read: list[NotRead] = []
        self._walk()

    @property
    def count(self) -> int:
        """How many entries there will be."""
        return len(self._names) + len(self._unknown)

    @property
    def not_read(self) -> tuple[NotRead, ...]:
        """What was left out on purpose, in order."""
        return tuple(sorted(self._not_read))

    def entries(self) -> Iterator[Entry]:
        """Every file in the order of names."""
        for path in sorted(self._names):
            yield path, read_beneath(self._top, path)
        for path, why in sorted(self._unknown.items()):
            yield path, unreadable(path, why)

    def has(self, path: str) -> bool:
        """Whether there is a file of that name."""
        return path in self._names

    def read(self, path: str) -> Blob | None:
        """The file of that name, if there is one and it can be read."""
        if path not in self._names:
            return None
        found = read_beneath(self._top, path)
        return found if isinstance(found, Blob) else None

    def close(self) -> None:
        """Lets go of the folder."""
        if self._top >= 0:
            os.close(self._top)
            self._top = -1

    def _walk(self) -> None:
        waiting = [b""]
        while waiting:
            folder = waiting.pop()
            try:
                listed = self._listed(folder)
            except OSError as problem:
                self._unknown[os.fsdecode(folder)] = _reason(problem)
                continue
            if folder and _ENVIRONMENT in listed:
                self._leave_out(folder, Skipped.ENVIRONMENT)
                continue
            for name, kind in sorted(listed.items()):
                path = folder + b"/" + name if folder else name
                if name in _VERSIONS:
                    self._leave_out(path, Skipped.VERSIONS)
                elif stat.S_ISDIR(kind):
                    waiting.append(path)
                elif not (stat.S_ISREG(kind) or stat.S_ISLNK(kind)):
                    self._leave_out(path, Skipped.SPECIAL)
                elif folder.endswith(_COMPILED) and name.endswith(_COMPILED_ENDINGS):
                    self._leave_out(folder, Skipped.COMPILED)
                else:
                    self._names.add(os.fsdecode(path))
            if self.count > MOST_FILES:
                raise BadInput(
                    Code.FILE_UNUSABLE,
                    f"there are more than {MOST_FILES:,} files in it",
                    help_line="name a folder further down",
                )

    def _listed(self, folder: bytes) -> dict[bytes, int]:
        """The names in a folder, and what each of them is."""
        descriptor = open_beneath(
            self._top, folder, os.O_RDONLY | os.O_DIRECTORY, crosses_mounts=True
        )
        try:
            with os.scandir(descriptor) as found:
                return {
                    os.fsencode(each.name): each.stat(follow_symlinks=False).st_mode
                    for each in found
                }
        finally:
            os.close(descriptor)

    def _leave_out(self, path: bytes, why: Skipped) -> None:
        left_out = NotRead(os.fsdecode(path), why)
        if left_out not in self._not_read[-1:]:
            self._not_read.append(left_out)


class FileSource:
    """One file, in the tree that it can import from."""

    is_whole = False
    count = 1
    not_read = ()

    def __init__(self, file: Path, described: str) -> None:
        self.described = described
        real = Path(os.path.realpath(file))
        top = real.parent
        for _ in range(_MOST_LEVELS):
            if top.parent == top or not (top / _PACKAGE).is_file():
                break
            top = top.parent
        self._path = str(real.relative_to(top))
        self._folder = top
        self._top = opened_folder(top)

    def entries(self) -> Iterator[Entry]:
        """The file; one that cannot be read is an error here, for there is nothing else."""
        found = read_beneath(self._top, self._path)
        if not isinstance(found, Blob):
            raise UsageProblem(Code.FILE_UNUSABLE, f"`{self._path}` {found.reason}")
        yield self._path, found

    def has(self, path: str) -> bool:
        """Whether there is a file of that name."""
        if "\0" in path:
            return False
        try:
            descriptor = open_beneath(self._top, os.fsencode(path), os.O_PATH, crosses_mounts=True)
        except OSError as problem:
            return problem.errno == errno.ELOOP and self._linked(path) is not None
        try:
            mode = os.fstat(descriptor).st_mode
        finally:
            os.close(descriptor)
        return stat.S_ISREG(mode) or (stat.S_ISLNK(mode) and self._linked(path) is not None)

    def read(self, path: str) -> Blob | None:
        """The file of that name; raises where it is there and cannot be read."""
        found = read_beneath(self._top, self._linked(path) or path)
        if isinstance(found, Blob):
            return found
        raise BadInput(
            Code.FILE_UNUSABLE,
            f"`{path}`, which is imported, {found.reason}",
            help_line="make it readable: what it can do is part of the answer",
        )

    def _linked(self, path: str) -> str | None:
        """Where links on the way lead to, inside the same tree."""
        real = Path(os.path.realpath(self._folder / path))
        if not real.is_relative_to(self._folder) or not real.is_file():
            return None
        return str(real.relative_to(self._folder))

    def close(self) -> None:
        """Lets go of the folder."""
        if self._top >= 0:
            os.close(self._top)
            self._top = -1


def opened_folder(folder: Path) -> int:
    """The folder, to open things below it."""
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        message = f"`{folder}`: {_reason(problem)}"
        raise UsageProblem(Code.FILE_UNUSABLE, message) from problem


def read_beneath(top: int, path: str) -> Blob | Unclassified:
    """What lies there now, below the folder: a file, or a link as a link."""
    try:
        # O_NONBLOCK: what became a pipe since it was listed would hold us for ever.
        descriptor = open_beneath(
            top, os.fsencode(path), os.O_RDONLY | os.O_NONBLOCK, crosses_mounts=True
        )
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            return _link(top, path)
        return unreadable(path, _reason(problem))
    with os.fdopen(descriptor, "rb") as handle:
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return unreadable(path, Skipped.SPECIAL.value)
            content = b"" if status.st_size > MOST_BLOB else handle.read(MOST_BLOB + 1)
        except OSError as problem:
            return unreadable(path, _reason(problem))
    if max(status.st_size, len(content)) > MOST_BLOB:
        return too_large(path)
    return Blob(content, EXECUTABLE if status.st_mode & _OWNER_EXECUTES else PLAIN_MODE)


def _link(top: int, path: str) -> Blob | Unclassified:
    above, _, name = os.fsencode(path).rpartition(b"/")
    try:
        folder = open_beneath(top, above, os.O_PATH | os.O_DIRECTORY, crosses_mounts=True)
        try:
            return Blob(os.readlink(name, dir_fd=folder), LINK)
        finally:
            os.close(folder)
    except OSError as problem:
        return unreadable(path, _reason(problem))


def _reason(problem: OSError) -> str:
    return (problem.strerror or "unknown reason").lower()
