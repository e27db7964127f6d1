"""Reads a layer, and the host's files below it: modes that stand in the way, marks, hashes.

The layer is ours, and nobody else writes to it any more; still nothing in it is followed or opened
blindly. A user who is not root may meet files there that even their owner may not read: those are
opened up while they are read, and get their modes back.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from consentry.base.values import dataclass
from consentry.enforce.diskparts import LayerNote, is_kept, note_of, opened_part
from consentry.enforce.filecalls import is_same_mount, set_mode
from consentry.enforce.foldertree import LONGEST_PATH, Tree, names_in

OVERLAY_MARKS: Final = "user.overlay."
OPAQUE: Final = "user.overlay.opaque"
ORIGIN: Final = "user.overlay.origin"
WHITEOUT: Final = "user.overlay.whiteout"
ELSEWHERE: Final = frozenset({"user.overlay.metacopy", "user.overlay.redirect"})
"""Marks that say the content lies somewhere else."""

_CHUNK: Final = 1 << 20
_OWNER_READ: Final = 0o400
_OWNER_ALL: Final = 0o700
_NO_MARKS: Final = (errno.ENODATA, errno.ENOTSUP, errno.EPERM, errno.EACCES)


@dataclass(frozen=True, slots=True)
class Listing:
    """A folder of a layer: its names and the overlay's marks on it."""

    names: tuple[bytes, ...]
    opaque: bytes
    has_origin: bool


class Budget:
    """How many bytes may still be read for hashing."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, size: int) -> bool:
        """Takes `size` away, if that much is left."""
        if size > self.left:
            return False
        self.left -= size
        return True


class Upper:
    """The files that one root's layer holds, by paths relative to the writable folder."""

    def __init__(self, layer: int, number: int) -> None:
        note = note_of(layer)
        self._tree = Tree(_opened_upper(layer, number, note))
        self.may_be_moved = note is not None and note.is_alone and not is_kept(layer)
        """Whether files may be taken out of it: nobody needs or could change them any more."""
        self._modes: dict[bytes, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._give_modes_back()
        finally:
            self._tree.close()

    def status(self, path: bytes) -> os.stat_result | None:
        """What the layer holds at a path, with the mode that the run left."""
        try:
            return self._tree.status(path)
        except PermissionError:
            self.open_up(path.rpartition(b"/")[0])
            return self._tree.status(path)

    def mode(self, path: bytes, found: os.stat_result) -> int:
        """The mode that the run left, whatever we did to it meanwhile."""
        return self._modes.get(path, found.st_mode)

    def listing(self, path: bytes, most: int) -> Listing:
        """A folder's names and marks; raises `TooMany`."""
        flags = os.O_RDONLY | os.O_DIRECTORY
        try:
            opened = self._tree.open(path, flags)
        except PermissionError:
            self.open_up(path)
            opened = self._tree.open(path, flags)
        try:
            if os.fstat(opened).st_mode & _OWNER_ALL != _OWNER_ALL and os.geteuid() != 0:
                self.open_up(path)
            marks = marks_of(opened)
            opaque = os.getxattr(opened, OPAQUE) if OPAQUE in marks else b""
            return Listing(tuple(names_in(opened, most)), opaque, ORIGIN in marks)
        finally:
            os.close(opened)

    def open(self, path: bytes) -> int:
        """A plain file for reading, as a descriptor of the caller's own."""
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
        try:
            return self._tree.open_in_folder(path, flags)
        except PermissionError:
            self.open_up(path)
            return self._tree.open_in_folder(path, flags)

    def place(self, path: bytes) -> tuple[int, bytes]:
        """The folder that a path lies in, lent for a moment, and its name there."""
        return self._tree.place(path)

    def is_on_mount_of(self, descriptor: int) -> bool:
        """Whether a rename can lead from it to that folder."""
        return is_same_mount(self._tree.descriptor, descriptor)

    def target(self, path: bytes) -> bytes:
        """Where a link points."""
        folder, name = self._tree.place(path)
        return os.readlink(name, dir_fd=folder)

    def open_up(self, path: bytes) -> None:
        """Lets the owner, who we are, read what is at `path` and enter every folder above it."""
        names = path.split(b"/") if path else []
        for count in range(1, len(names) + 1):
            at = b"/".join(names[:count])
            held = self._tree.open(at, os.O_PATH)
            try:
                mode = os.fstat(held).st_mode
                wanted = _OWNER_ALL if stat.S_ISDIR(mode) else _OWNER_READ
                if mode & wanted != wanted:
                    self._modes.setdefault(at, mode)
                    set_mode(held, stat.S_IMODE(mode) | wanted)
            finally:
                os.close(held)

    def _give_modes_back(self) -> None:
        for path in sorted(self._modes, reverse=True):
            held = self._tree.open(path, os.O_PATH)
            try:
                set_mode(held, stat.S_IMODE(self._modes[path]))
            finally:
                os.close(held)


def _opened_upper(layer: int, number: int, note: LayerNote | None) -> int:
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    part = opened_part(layer, number, note)
    try:
        return os.open(f"upper{number}", flags, dir_fd=part)
    finally:
        os.close(part)


def open_plain(tree: Tree, path: bytes) -> int | None:
    """A plain file of the host for reading; None where it cannot be read."""
    try:
        opened = tree.open_in_folder(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        return None
    return opened


def sha256_of(descriptor: int, size: int) -> str:
    """The hash of the first `size` bytes; a file that grows meanwhile holds nobody up."""
    content = hashlib.sha256()
    offset = 0
    while offset < size:
        part = os.pread(descriptor, min(_CHUNK, size - offset), offset)
        if not part:
            break
        content.update(part)
        offset += len(part)
    return content.hexdigest()


def marks_of(descriptor: int) -> list[str]:
    """The names of the extended attributes; none where the file system has none."""
    try:
        return os.listxattr(descriptor)
    except OSError as problem:
        if problem.errno in _NO_MARKS:
            return []
        raise


def user_attributes(descriptor: int) -> Mapping[str, bytes]:
    """The user's own extended attributes, without the overlay's."""
    return {
        name: os.getxattr(descriptor, name)
        for name in marks_of(descriptor)
        if name.startswith("user.") and not name.startswith(OVERLAY_MARKS)
    }


def is_too_long(path: bytes) -> bool:
    """Whether no ordinary program could open it."""
    return len(path) > LONGEST_PATH
