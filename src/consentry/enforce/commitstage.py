"""Puts a run's new files together beside the root: the very bytes of the layer, ready to be renamed.

What is copied is hashed on the way and must be what the scan saw. Modes, times, the user's own
extended attributes, holes and several names for one file are kept; bits that lend an identity never.
A file that takes another's place gets its owner, group and access list; a new one of a root caller
belongs to whoever owns its folder.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.commitplaces import NEW, Place, slot
from consentry.enforce.commitplan import Action, Seal, Step, seal_at
from consentry.enforce.filecalls import set_mode
from consentry.enforce.foldertree import below
from consentry.enforce.layer import Change, FileType, path_text
from consentry.enforce.layerfiles import Upper, user_attributes

_CHUNK: Final = 1 << 20
_BLOCK: Final = 512
_OWNER_ALL: Final = 0o700
_ACCESS_LIST: Final = "system.posix_acl_access"
_NOT_KEPT: Final = (errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Staged:
    """What is ready for one step: its seal, and the mode it must have at the end if not yet."""

    seal: Seal
    final_mode: int | None


@dataclass(frozen=True, slots=True)
class _Owner:
    """Who a new file belongs to; None leaves that as it is. `group_bit` is for new folders."""

    uid: int | None
    gid: int | None
    group_bit: int
    access_list: bytes | None


class Stager:
    """Stages the steps of one root."""

    def __init__(self, place: Place, upper: Upper) -> None:
        self._host = place.host
        self._staging = place.staging
        self._upper = upper
        self._shared: dict[int, bytes] = {}

    def stage(self, step: Step) -> Staged:
        """Puts together what comes to the step's path."""
        owner = self._owner(step)
        top = slot(NEW, step.number)
        start = len(step.path) + 1
        folders: list[tuple[bytes, Change]] = []
        for change in (step.change, *step.inner):
            path = top if change is step.change else below(top, change.path[start:])
            if change.type is FileType.FOLDER:
                self._make_folder(path)
                folders.append((path, change))
            elif change.type is FileType.LINK:
                self._make_link(path, change, owner)
            else:
                self._make_file(path, change, owner)
        final: int | None = None
        for path, change in reversed(folders):
            mode = change.mode | owner.group_bit
            if path == top and mode & _OWNER_ALL != _OWNER_ALL:
                # To be renamed, a folder must be its owner's to write.
                final, mode = mode, mode | _OWNER_ALL
            self._finish_folder(path, change, owner, mode)
        self._staging.forget()
        seal = seal_at(self._staging, top)
        if seal is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), top)
        return Staged(seal, final)

    def _owner(self, step: Step) -> _Owner:
        is_root = os.geteuid() == 0
        folder = self._host.status(step.path.rpartition(b"/")[0])
        if folder is None:
            return _Owner(None, None, 0, None)
        group_bit = folder.st_mode & stat.S_ISGID
        old = self._host.status(step.path) if step.action is Action.SWAP else None
        if old is not None:
            access_list = self._access_list(step.path) if stat.S_ISREG(old.st_mode) else None
            return _Owner(old.st_uid if is_root else None, old.st_gid, group_bit, access_list)
        if is_root:
            return _Owner(folder.st_uid, folder.st_gid, group_bit, None)
        return _Owner(None, folder.st_gid if group_bit else None, group_bit, None)

    def _access_list(self, path: bytes) -> bytes | None:
        folder, name = self._host.place(path)
        anchored = b"/proc/self/fd/%d/%s" % (folder, name)
        try:
            return os.getxattr(anchored, _ACCESS_LIST, follow_symlinks=False)
        except OSError:
            return None

    def _make_folder(self, path: bytes) -> None:
        folder, name = self._staging.place(path)
        os.mkdir(name, 0o700, dir_fd=folder)

    def _make_link(self, path: bytes, change: Change, owner: _Owner) -> None:
        folder, name = self._staging.place(path)
        os.symlink(change.target or b"", name, dir_fd=folder)
        self._give(path, owner)
        times = (change.mtime_ns, change.mtime_ns)
        os.utime(name, ns=times, dir_fd=folder, follow_symlinks=False)

    def _make_file(self, path: bytes, change: Change, owner: _Owner) -> None:
        folder, name = self._staging.place(path)
        known = self._shared.get(change.shared) if change.shared else None
        if known is not None:
            there, known_name = self._staging.place(known)
            os.link(known_name, name, src_dir_fd=there, dst_dir_fd=folder, follow_symlinks=False)
            return
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        made = os.open(name, flags, 0o600, dir_fd=folder)
        try:
            source = self._upper.open(in_layer(change))
            try:
                copy_content(source, made, change)
                keep_attributes(made, user_attributes(source))
            finally:
                os.close(source)
            if owner.access_list is not None:
                keep_attributes(made, {_ACCESS_LIST: owner.access_list})
            self._give(path, owner)
            os.fchmod(made, change.mode)
            os.utime(made, ns=(change.mtime_ns, change.mtime_ns))
        finally:
            os.close(made)
        if change.shared:
            self._shared[change.shared] = path

    def _finish_folder(self, path: bytes, change: Change, owner: _Owner, mode: int) -> None:
        folder, name = self._staging.place(path)
        self._give(path, owner)
        times = (change.mtime_ns, change.mtime_ns)
        os.utime(name, ns=times, dir_fd=folder, follow_symlinks=False)
        opened = self._staging.open(path, os.O_PATH)
        try:
            set_mode(opened, mode)
        finally:
            os.close(opened)

    def _give(self, path: bytes, owner: _Owner) -> None:
        """Changes owner and group, as far as the caller may."""
        if owner.uid is None and owner.gid is None:
            return
        folder, name = self._staging.place(path)
        uid = -1 if owner.uid is None else owner.uid
        gid = -1 if owner.gid is None else owner.gid
        try:
            os.chown(name, uid, gid, dir_fd=folder, follow_symlinks=False)
        except PermissionError:
            if owner.uid is not None:
                raise


def in_layer(change: Change) -> bytes:
    """The path relative to the writable folder, as the layer has it."""
    rest = change.root.rest
    return change.path[len(rest) + 1 :] if rest else change.path


def copy_content(source: int, made: int, change: Change) -> None:
    """Copies what the scan saw, holes as holes; raises if it is something else by now."""
    found = os.fstat(source)
    content = None if change.sha256 is None else hashlib.sha256()
    if not stat.S_ISREG(found.st_mode) or found.st_size != change.size:
        raise _changed(change)
    is_dense = content is not None and found.st_blocks * _BLOCK >= found.st_size
    os.ftruncate(made, change.size)
    at = 0
    while at < change.size:
        data, end = (at, change.size) if is_dense else _next_data(source, at, change.size)
        if content is not None:
            for zeros in _zeros(data - at):
                content.update(zeros)
        at = data
        while at < end:
            part = os.pread(source, min(_CHUNK, end - at), at)
            if not part:
                raise _changed(change)
            if content is not None:
                content.update(part)
            _write_all(made, part, at)
            at += len(part)
    if content is not None and content.hexdigest() != change.sha256:
        raise _changed(change)


def _next_data(source: int, at: int, size: int) -> tuple[int, int]:
    """Where the next bytes begin and end that are not a hole."""
    try:
        data = os.lseek(source, at, os.SEEK_DATA)
        return data, os.lseek(source, data, os.SEEK_HOLE)
    except OSError as problem:
        return (size, size) if problem.errno == errno.ENXIO else (at, size)


def _zeros(count: int) -> Iterator[bytes]:
    for size in (*repeat(_CHUNK, count // _CHUNK), count % _CHUNK):
        yield bytes(size)


def _write_all(descriptor: int, part: bytes, at: int) -> None:
    rest = memoryview(part)
    while rest:
        written = os.pwrite(descriptor, rest, at)
        rest, at = rest[written:], at + written


def keep_attributes(made: int, attributes: Mapping[str, bytes]) -> None:
    """Gives a file these extended attributes, as far as its file system takes them."""
    for name, value in attributes.items():
        try:
            os.setxattr(made, name, value)
        except OSError as problem:
            if problem.errno not in _NOT_KEPT:
                raise


def _changed(change: Change) -> Refused:
    return Refused(
        Code.COMMIT_REFUSED,
        f"`{path_text(change.inside)}` in the layer is not what it was when it was looked at",
    )
