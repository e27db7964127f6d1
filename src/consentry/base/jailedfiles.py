"""What is done to one file by descriptors: read and written whole, made, put in place, removed.

Everything takes the descriptor of the file, or of the folder it lies in and its name there, which is
one name and no path. No function follows a link, and none looks anything up from the root. What has a
name is there whole or not at all: a file is written and synced under a name of its own in the same
folder before it takes the place of another.
"""

import errno
import os
import secrets
import stat
import sys
from contextlib import suppress

from consentry.base.errors import TooLarge

_PIECE = 1 << 20
_ACCESS_LIST = "system.posix_acl_access"
_NO_LIST = frozenset({errno.ENODATA, errno.ENOTSUP})
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def read_whole(opened: int, most: int, name: str) -> bytes:
    """All of a file, if that is at most so many bytes; never more than that in memory."""
    pieces: list[bytes] = []
    left = most + 1
    while left > 0:
        piece = os.read(opened, min(left, _PIECE))
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        left -= len(piece)
    raise TooLarge(f"`{name}` has more than {most} bytes")


def write_whole(opened: int, content: bytes) -> None:
    """Writes all of it from where the descriptor stands."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(opened, rest) :]


def make(folder: int, name: str, content: bytes, mode: int) -> os.stat_result:
    """Makes a file of a free name, synced with its folder; removes it again if that fails."""
    opened = os.open(name, _NEW, mode, dir_fd=folder)
    try:
        write_whole(opened, content)
        os.fsync(opened)
        made = os.fstat(opened)
    except BaseException:
        remove_same(folder, name, os.fstat(opened))
        raise
    finally:
        os.close(opened)
    sync(folder)
    return made


def put_in_place(folder: int, name: str, content: bytes, before: os.stat_result) -> None:
    """Lets a new file take the name of the one that `before` is about, with its mode, owner and access list.

    Where group or list cannot be kept, the group gets no more than everybody else: nobody gains by it.
    """
    fresh = f".consentry.{secrets.token_hex(8)}.new"
    opened = os.open(fresh, _NEW, 0o600, dir_fd=folder)
    try:
        write_whole(opened, content)
        _hand_over(folder, name, opened, before)
        os.fsync(opened)
        # Never follows a link that stands there by now: a name is replaced, not what it leads to.
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        remove_same(folder, fresh, os.fstat(opened))
        raise
    finally:
        os.close(opened)
    sync(folder)


def _hand_over(folder: int, name: str, fresh: int, before: os.stat_result) -> None:
    mode = stat.S_IMODE(before.st_mode) & 0o777
    has_list = _has_list_of(folder, name, fresh, before)
    if not has_list:
        _drop_list(fresh)
    # Only members give a file to their group, and only root gives one to somebody else.
    with suppress(OSError):
        os.fchown(fresh, -1, before.st_gid)
    if not (has_list and os.fstat(fresh).st_gid == before.st_gid):
        mode &= ~0o070 | (mode & 0o007) << 3
    os.fchmod(fresh, mode)
    with suppress(OSError):
        os.fchown(fresh, before.st_uid, -1)


def _has_list_of(folder: int, name: str, fresh: int, before: os.stat_result) -> bool:
    """Whether the new file has the access list of the old one by now, or like that none.

    With a list, what looks like the group's part of the mode is the most that anyone in the list gets.
    And a folder may have a list that new files begin with.
    """
    if sys.platform != "linux":
        return True
    try:
        old = os.open(name, _LOOK, dir_fd=folder)
    except OSError:
        return False
    try:
        if not os.path.samestat(os.fstat(old), before):
            return False
        os.setxattr(fresh, _ACCESS_LIST, os.getxattr(old, _ACCESS_LIST))
    except OSError as problem:
        return problem.errno in _NO_LIST and _drop_list(fresh)
    finally:
        os.close(old)
    return True


def _drop_list(fresh: int) -> bool:
    """Takes away the list that the folder gave; whether there is none now."""
    if sys.platform != "linux":
        return True
    try:
        os.removexattr(fresh, _ACCESS_LIST)
    except OSError as problem:
        return problem.errno in _NO_LIST
    return True


def remove(folder: int, name: str, *, is_folder: bool) -> None:
    """Removes the name of a file, or an empty folder; never what a link leads to."""
    if is_folder:
        os.rmdir(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)
    sync(folder)


def remove_same(folder: int, name: str, made: os.stat_result) -> None:
    """Removes what we made, as well as that can be done; what somebody else put there stays."""
    with suppress(OSError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if os.path.samestat(found, made):
            os.unlink(name, dir_fd=folder)


def sync(folder: int) -> None:
    """Makes the names as durable as the contents; not every file system can."""
    with suppress(OSError):
        os.fsync(folder)
