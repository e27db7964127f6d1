"""Puts a run's new files together beside the root: the very bytes of the layer, ready to be renamed.

What is copied is hashed on the way and must be what the scan saw. From a layer on the root's own mount
that the kernel has said to be nobody's any more, a file is moved instead, if it has not been changed
in any way since it was looked at and hashed; such a layer is used up by that. Modes, times, the user's own
extended attributes, holes and several names for one file are kept; bits that lend an identity never.
A file that takes another's place gets its owner, group and access list; a new one of a root caller
belongs to whoever owns its folder.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.commitplaces import NEW, Place, slot
from consentry.enforce.commitplan import Action, Seal, Step, seal_at, seal_of_file
from consentry.enforce.filecalls import set_mode
from consentry.enforce.foldertree import below
from consentry.enforce.layer import Change, FileType, Laid, path_text
from consentry.enforce.layerfiles import OVERLAY_MARKS, Upper, user_attributes

_CHUNK: Final = 1 << 20
_BLOCK: Final = 512
_OWNER_ALL: Final = 0o700
_ACCESS_LIST: Final = "system.posix_acl_access"
_CAPABILITY: Final = "security.capability"
_OWNER_WRITE: Final = 0o200
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
        self._folders: dict[bytes, os.stat_result | None] = {}
        self._moves = upper.may_be_moved and upper.is_on_mount_of(place.staging.descriptor)

    def stage(self, step: Step) -> Staged:
        """Puts together what comes to the step's path."""
        owner = self._owner(step)
        top = slot(NEW, step.number)
        seal: Seal | None = None
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
                seal = self._make_file(path, change, owner)
        final: int | None = None
        for path, change in reversed(folders):
            mode = change.mode | owner.group_bit
            if path == top and mode & _OWNER_ALL != _OWNER_ALL:
                # To be renamed, a folder must be its owner's to write.
                final, mode = mode, mode | _OWNER_ALL
            self._finish_folder(path, change, owner, mode)
        if folders:
            self._staging.forget()
            seal = None
        seal = seal or seal_at(self._staging, top)
        if seal is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), top)
        return Staged(seal, final)

    def _owner(self, step: Step) -> _Owner:
        is_root = os.geteuid() == 0
        around = step.path.rpartition(b"/")[0]
        if around not in self._folders:
            self._folders[around] = self._host.status(around)
        folder = self._folders[around]
        if folder is None:
            return _Owner(None, None, 0, None)
        group_bit = folder.st_mode & stat.S_ISGID
        # It is what the scan saw, or there is a conflict.
        old = step.change.was if step.action is Action.SWAP else None
        if old is not None:
            access_list = self._access_list(step.path) if old.type is FileType.FILE else None
            uid, gid = old.owner or self._owner_of_old(step.path)
            return _Owner(uid if is_root else None, gid, group_bit, access_list)
        if is_root:
            return _Owner(folder.st_uid, folder.st_gid, group_bit, None)
        return _Owner(None, folder.st_gid if group_bit else None, group_bit, None)

    def _owner_of_old(self, path: bytes) -> tuple[int, int]:
        found = self._host.status(path)
        if found is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return found.st_uid, found.st_gid

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

    def _make_file(self, path: bytes, change: Change, owner: _Owner) -> Seal | None:
        """The seal of a file that was moved, of which a rename changes nothing."""
        folder, name = self._staging.place(path)
        known = self._shared.get(change.shared) if change.shared else None
        if known is not None:
            there, known_name = self._staging.place(known)
            os.link(known_name, name, src_dir_fd=there, dst_dir_fd=folder, follow_symlinks=False)
            return None
        if change.shared:
            self._shared[change.shared] = path
        if change.laid is not None:
            moved = self._moved(change, change.laid, folder, name)
            if moved is not None:
                self._fit(path, change, change.laid, owner)
                return moved
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
        return None

    def _moved(self, change: Change, laid: Laid, folder: int, name: bytes) -> Seal | None:
        """Takes a file out of the layer, if it is as it was when it was hashed."""
        if not self._moves:
            return None
        try:
            return self._taken(change, laid, folder, name)
        except PermissionError:
            # A folder that the run has closed even to its owner.
            self._upper.open_up(in_layer(change).rpartition(b"/")[0])
            return self._taken(change, laid, folder, name)

    def _taken(self, change: Change, laid: Laid, folder: int, name: bytes) -> Seal | None:
        around, own = self._upper.place(in_layer(change))
        found = os.stat(own, dir_fd=around, follow_symlinks=False)
        seen = (found.st_ino, found.st_ctime_ns, found.st_mtime_ns, found.st_size)
        if seen != (laid.inode, laid.ctime_ns, change.mtime_ns, change.size):
            return None
        os.rename(own, name, src_dir_fd=around, dst_dir_fd=folder)
        return seal_of_file(found)

    def _fit(self, path: bytes, change: Change, laid: Laid, owner: _Owner) -> None:
        """Gives a file that was moved what a copy of it would have."""
        folder, name = self._staging.place(path)
        mode = laid.mode
        unwanted = [each for each in laid.marks if _is_unwanted(each)]
        if unwanted or owner.access_list is not None:
            if not mode & _OWNER_WRITE:
                # Whoever may not write a file may not change its attributes, its owner included.
                mode |= _OWNER_WRITE
                os.chmod(name, mode, dir_fd=folder)
            anchored = b"/proc/self/fd/%d/%s" % (folder, name)
            for each in unwanted:
                os.removexattr(anchored, each, follow_symlinks=False)
            if owner.access_list is not None:
                keep_attributes(anchored, {_ACCESS_LIST: owner.access_list})
                mode = -1
        if owner.uid not in (None, laid.uid) or owner.gid not in (None, laid.gid):
            self._give(path, owner)
        if mode != change.mode:
            os.chmod(name, change.mode, dir_fd=folder)

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


def _is_unwanted(mark: str) -> bool:
    """An attribute that is the overlay's, or that no copy of the file would have."""
    return mark.startswith((OVERLAY_MARKS, "trusted.")) or mark in (_ACCESS_LIST, _CAPABILITY)


def keep_attributes(made: int | bytes, attributes: Mapping[str, bytes]) -> None:
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
