"""File calls that the standard library lacks: open below a folder, rename with a condition, sync one.

`open_beneath` is what keeps our own hands inside a folder: whatever the path looks like, and however
the tree is being changed meanwhile, no link is followed and no `..` climbs. Kernels before 5.6, and
containers that refuse the call, get the same by a walk of one name at a time.
"""

import ctypes
import errno
import os
import stat
from typing import Final

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

_SYS_OPENAT2: Final = 437
_RESOLVE_NO_XDEV: Final = 1
_RESOLVE_NO_MAGICLINKS: Final = 2
_RESOLVE_NO_SYMLINKS: Final = 4
_RESOLVE_BENEATH: Final = 8
_INSIDE: Final = _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS
_NO_REPLACE: Final = 1
_EXCHANGE: Final = 2
# A kernel, a filter or a file system that does not know the call or the flag answers one of these.
_NOT_KNOWN: Final = (errno.ENOSYS, errno.EPERM, errno.EINVAL)


class CannotExchange(Exception):
    """The file system has no way to let two names change places at once."""


def open_beneath(folder: int, path: bytes, flags: int, *, crosses_mounts: bool = False) -> int:
    """Opens what `path` names below `folder`; `OSError` names the path.

    A link anywhere on the way is `ELOOP` (or `ENOTDIR`), another mount `EXDEV`.
    """
    resolve = _INSIDE | (0 if crosses_mounts else _RESOLVE_NO_XDEV)
    how = (ctypes.c_uint64 * 3)(flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0, resolve)
    opened = _libc.syscall(_SYS_OPENAT2, folder, path or b".", ctypes.byref(how), 24)
    if opened >= 0:
        return int(opened)
    problem = ctypes.get_errno()
    if problem in (errno.ENOSYS, errno.EPERM):
        return _walked(folder, path, flags, crosses_mounts=crosses_mounts)
    raise OSError(problem, os.strerror(problem), path)


def _walked(folder: int, path: bytes, flags: int, *, crosses_mounts: bool) -> int:
    """As `open_beneath`, name by name."""
    at = os.open(b".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    device = os.fstat(at).st_dev
    *above, last = path.split(b"/") if path else [b"."]
    try:
        for name in (*above, last):
            if name == b"..":
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
            wanted = flags if name is last else os.O_PATH | os.O_DIRECTORY
            inner = os.open(name, wanted | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = inner
            found = os.fstat(at)
            if stat.S_ISLNK(found.st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            if found.st_dev != device and not crosses_mounts:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    except OSError:
        os.close(at)
        raise
    return at


def move(from_folder: int, name: bytes, to_folder: int, to_name: bytes) -> None:
    """Renames, and never over something: `FileExistsError` where the new name is taken."""
    problem = _renamed(from_folder, name, to_folder, to_name, _NO_REPLACE)
    if problem == 0:
        return
    if problem not in _NOT_KNOWN:
        raise OSError(problem, os.strerror(problem), to_name)
    if exists(to_folder, to_name):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), to_name)
    os.rename(name, to_name, src_dir_fd=from_folder, dst_dir_fd=to_folder)


def exchange(one_folder: int, one: bytes, other_folder: int, other: bytes) -> None:
    """Lets two names change places, both there at any moment; raises `CannotExchange`."""
    problem = _renamed(one_folder, one, other_folder, other, _EXCHANGE)
    if problem in _NOT_KNOWN:
        raise CannotExchange
    if problem:
        raise OSError(problem, os.strerror(problem), other)


def _renamed(from_folder: int, name: bytes, to_folder: int, to_name: bytes, flags: int) -> int:
    if _libc.renameat2(from_folder, name, to_folder, to_name, flags) == 0:
        return 0
    return ctypes.get_errno()


def sync_file_system(descriptor: int) -> None:
    """Everything written so far to the file system of `descriptor` is on the disk afterwards."""
    if _libc.syncfs(descriptor) != 0:
        problem = ctypes.get_errno()
        raise OSError(problem, os.strerror(problem), "syncfs")


def exists(folder: int, name: bytes) -> bool:
    """Whether there is something of that name, a dangling link included."""
    return status_of(folder, name) is not None


def status_of(folder: int, name: bytes) -> os.stat_result | None:
    """What stands at that name, links not followed; None for nothing."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def set_mode(descriptor: int, mode: int) -> None:
    """Changes the mode of what is open, also where it was opened by `O_PATH` alone."""
    os.chmod(f"/proc/self/fd/{descriptor}", mode)  # noqa: PTH101 - the descriptor's own name


def is_same_mount(one: int, other: int) -> bool:
    """Whether a rename can lead from one folder to the other; no where it cannot be told."""
    if os.fstat(one).st_dev != os.fstat(other).st_dev:
        return False
    mounts = [_mount_of(one), _mount_of(other)]
    return mounts[0] is not None and mounts[0] == mounts[1]


def _mount_of(descriptor: int) -> bytes | None:
    try:
        with open(f"/proc/self/fdinfo/{descriptor}", "rb") as lines:  # noqa: PTH123 - one line
            return next((line for line in lines if line.startswith(b"mnt_id:")), None)
    except OSError:
        return None
