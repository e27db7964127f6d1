"""Copies what a commit replaced to another file system and back, as it was.

Everything that can be kept is: modes with all their bits, owners where the caller may give files
away, times, extended attributes, holes, several names for one file. What cannot be copied, a socket
say, fails the whole copy: half of what was there is no ground to undo anything.
"""

import errno
import os
import stat
from typing import Final

from consentry.enforce.filecalls import set_mode
from consentry.enforce.foldertree import Tree, below

_CHUNK: Final = 1 << 20
_MOST_NAMES: Final = 1_000_000
_NOT_KEPT: Final = (errno.ENOTSUP, errno.EPERM, errno.EACCES)


def copy_tree(source: Tree, path: bytes, target: Tree, name: bytes) -> None:
    """Copies what is at a path, with everything below it; raises `OSError`."""
    _Copy(source, target).copied(path, name)


class _Copy:
    def __init__(self, source: Tree, target: Tree) -> None:
        self._source = source
        self._target = target
        self._known: dict[tuple[int, int], bytes] = {}

    def copied(self, path: bytes, name: bytes) -> None:
        folders: list[tuple[bytes, bytes, os.stat_result]] = []
        waiting = [(path, name)]
        while waiting:
            at, to = waiting.pop()
            found = self._source.status(at)
            if found is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), at)
            if stat.S_ISDIR(found.st_mode):
                folders.append((at, to, found))
                waiting += self._made_folder(at, to)
            elif (known := self._known.get((found.st_dev, found.st_ino))) is not None:
                self._link(known, to)
            else:
                self._made(at, to, found)
                if found.st_nlink > 1:
                    self._known[found.st_dev, found.st_ino] = to
        for at, to, found in reversed(folders):
            self._dress(at, to, found)

    def _made_folder(self, path: bytes, to: bytes) -> list[tuple[bytes, bytes]]:
        above, name = self._target.place(to)
        os.mkdir(name, 0o700, dir_fd=above)
        names = self._source.names(path, _MOST_NAMES)
        return [(below(path, each), below(to, each)) for each in names]

    def _made(self, path: bytes, to: bytes, found: os.stat_result) -> None:
        above, name = self._target.place(to)
        if stat.S_ISREG(found.st_mode):
            self._copy_file(path, to)
        elif stat.S_ISLNK(found.st_mode):
            there, old = self._source.place(path)
            os.symlink(os.readlink(old, dir_fd=there), name, dir_fd=above)
        elif stat.S_ISFIFO(found.st_mode):
            os.mkfifo(name, 0o600, dir_fd=above)
        else:
            raise OSError(errno.ENOTSUP, "this kind of file cannot be copied", path)
        self._dress(path, to, found)

    def _link(self, known: bytes, to: bytes) -> None:
        there, old = self._target.place(known)
        above, name = self._target.place(to)
        os.link(old, name, src_dir_fd=there, dst_dir_fd=above, follow_symlinks=False)

    def _copy_file(self, path: bytes, to: bytes) -> None:
        above, name = self._target.place(to)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        source = self._source.open_in_folder(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            made = os.open(name, flags, 0o600, dir_fd=above)
            try:
                _copy_data(source, made)
            finally:
                os.close(made)
        finally:
            os.close(source)

    def _dress(self, path: bytes, to: bytes, found: os.stat_result) -> None:
        """Owner first, which takes bits of the mode away; then attributes, mode and times."""
        above, name = self._target.place(to)
        try:
            os.chown(name, found.st_uid, found.st_gid, dir_fd=above, follow_symlinks=False)
        except PermissionError:
            if found.st_uid != os.geteuid():
                raise
        self._copy_attributes(path, to)
        if not stat.S_ISLNK(found.st_mode):
            opened = self._target.open(to, os.O_PATH)
            try:
                set_mode(opened, stat.S_IMODE(found.st_mode))
            finally:
                os.close(opened)
        times = (found.st_atime_ns, found.st_mtime_ns)
        os.utime(name, ns=times, dir_fd=above, follow_symlinks=False)

    def _copy_attributes(self, path: bytes, to: bytes) -> None:
        old, new = _anchored(self._source, path), _anchored(self._target, to)
        try:
            names = os.listxattr(old, follow_symlinks=False)
        except OSError as problem:
            if problem.errno in _NOT_KEPT:
                return
            raise
        for name in names:
            value = os.getxattr(old, name, follow_symlinks=False)
            try:
                os.setxattr(new, name, value, follow_symlinks=False)
            except OSError as problem:
                if problem.errno not in _NOT_KEPT:
                    raise


def _anchored(tree: Tree, path: bytes) -> bytes:
    folder, name = tree.place(path)
    return b"/proc/self/fd/%d/%s" % (folder, name)


def _copy_data(source: int, made: int) -> None:
    size = os.fstat(source).st_size
    os.ftruncate(made, size)
    at = 0
    while at < size:
        try:
            at = os.lseek(source, at, os.SEEK_DATA)
            end = os.lseek(source, at, os.SEEK_HOLE)
        except OSError as problem:
            if problem.errno == errno.ENXIO:
                return
            end = size
        while at < end:
            part = os.pread(source, min(_CHUNK, end - at), at)
            if not part:
                return
            view = memoryview(part)
            while view:
                written = os.pwrite(made, view, at)
                view, at = view[written:], at + written
