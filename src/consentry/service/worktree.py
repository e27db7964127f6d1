"""The files of a working tree, as they lie on the disk, compared with what a commit has.

Every file is opened below the top folder without following a link, and hashed: what the index says of
sizes and times, and which files it calls unchanged, is not believed. Bytes are compared as they are; a
file that git would convert on its way in (line endings, large-file pointers) counts as changed.

A file that is read twice must be the same twice. Pipes, sockets and devices are no files; a file
that may not be read is an error, and never one that is missing.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.declare.patchbundle import Blob
from consentry.enforce.filecalls import open_beneath
from consentry.enforce.gitobjects import MOST_OBJECT, ObjectReader
from consentry.service.gitnames import bytes_of
from consentry.service.gittree import (
    EXECUTABLE,
    LINK,
    MOST_KEPT,
    PLAIN,
    SUBMODULE,
    TreeEntry,
    read_blob,
    too_large,
)

_PART: Final = 1 << 20
_NOT_THERE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ENXIO)
_OWNER_EXECUTES: Final = 0o100


class WorkTree:
    """The files below a folder that somebody asked about; use `look` first, then the rest."""

    def __init__(self, top: Path, reader: ObjectReader, *, is_sha256: bool) -> None:
        self._reader = reader
        self._hash = hashlib.sha256 if is_sha256 else hashlib.sha1
        self._top = os.open(top, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._seen: dict[str, TreeEntry] = {}
        self._contents: dict[str, bytes] = {}
        self._kept_bytes = 0
        self._elsewhere: dict[str, TreeEntry] = {}

    def close(self) -> None:
        """Lets go of the folder."""
        if self._top >= 0:
            os.close(self._top)
            self._top = -1

    def look(self, path: str, expected: TreeEntry | None) -> TreeEntry | None:
        """What lies there now; its content is held on to where it is not what was expected."""
        found = self._found(path)
        if found is None:
            return None
        entry, content = found
        self._seen[path] = entry
        if entry != expected and content is not None:
            self._kept_bytes += len(content)
            if self._kept_bytes <= MOST_KEPT:
                self._contents[path] = content
        return entry

    def stand_in(self, entries: Mapping[str, TreeEntry]) -> None:
        """Files that belong here and were left out on purpose are as the repository has them."""
        self._elsewhere |= entries
        self._seen |= entries

    def held(self, path: str) -> bytes | None:
        """The content of a file that was not as expected; None where it is too large."""
        return self._contents.get(path)

    def is_folder(self, path: str) -> bool:
        """Whether a folder with something in it lies there."""
        try:
            descriptor = self._open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return False
        try:
            return bool(os.listdir(descriptor))  # noqa: PTH208 - a descriptor, not a path
        finally:
            os.close(descriptor)

    def has(self, path: str) -> bool:
        """Whether a file or link was there when it was looked at."""
        return path in self._seen

    def read(self, path: str) -> Blob | None:
        """What was there when it was looked at; raises where it has changed since."""
        entry = self._seen.get(path)
        if entry is None:
            return None
        if path in self._contents:
            return Blob(self._contents[path], entry.mode)
        if path in self._elsewhere or entry.mode == SUBMODULE:
            return read_blob(self._reader, path, entry)
        found = self._found(path)
        if found is None or found[0] != entry:
            raise BadInput(
                Code.FILE_UNUSABLE,
                f"`{path}` was changed while it was read",
                help_line="try again when nothing else is writing to the working tree",
            )
        if found[1] is None:
            raise too_large(path)
        return Blob(found[1], entry.mode)

    def names(self) -> tuple[str, ...]:
        """All paths, in order."""
        return tuple(sorted(self._seen))

    def _open(self, path: str, flags: int) -> int:
        return open_beneath(self._top, bytes_of(path), flags, crosses_mounts=True)

    def _found(self, path: str) -> tuple[TreeEntry, bytes | None] | None:
        try:
            # O_NONBLOCK: a pipe without a writer would hold us for ever.
            descriptor = self._open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as problem:
            if problem.errno in _NOT_THERE:
                return None
            if problem.errno == errno.ELOOP:
                return self._link(path)
            raise _unreadable(path, problem) from problem
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return None
            mode = EXECUTABLE if status.st_mode & _OWNER_EXECUTES else PLAIN
            name, content = self._hashed(descriptor, status.st_size)
            return TreeEntry(mode, name), content
        except OSError as problem:
            raise _unreadable(path, problem) from problem
        finally:
            os.close(descriptor)

    def _link(self, path: str) -> tuple[TreeEntry, bytes] | None:
        """A link at the end of the path; below a link there is nothing of this tree."""
        above, _, name = path.rpartition("/")
        try:
            folder = self._open(above, os.O_PATH | os.O_DIRECTORY)
            try:
                target = os.readlink(bytes_of(name), dir_fd=folder)
            finally:
                os.close(folder)
        except OSError as problem:
            if problem.errno in (*_NOT_THERE, errno.ELOOP):
                return None
            raise _unreadable(path, problem) from problem
        summed = self._hash(b"blob %d\0" % len(target), usedforsecurity=False)
        summed.update(target)
        return TreeEntry(LINK, summed.hexdigest()), target

    def _hashed(self, descriptor: int, size: int) -> tuple[str, bytes | None]:
        """The id that git would give it, and its content unless it is large."""
        summed = self._hash(b"blob %d\0" % size, usedforsecurity=False)
        if size <= MOST_OBJECT:
            with os.fdopen(descriptor, "rb", closefd=False) as handle:
                content = handle.read(MOST_OBJECT + 1)
            summed.update(content)
            return summed.hexdigest(), content if len(content) <= MOST_OBJECT else None
        while part := os.read(descriptor, _PART):
            summed.update(part)
        return summed.hexdigest(), None


def _unreadable(path: str, problem: OSError) -> BadInput:
    return BadInput(
        Code.FILE_UNUSABLE,
        f"`{path}` in the working tree: {(problem.strerror or 'cannot be read').lower()}",
        help_line="make it readable, or ignore it; a file that nobody read is not judged",
    )
