"""Renames folders that the kernel cannot rename: those that a layer shows and does not hold itself.

An overlay of an ordinary user refuses that (`EXDEV`), as between two file systems. `mv` copies then;
others, `git mv` among them, give up. So a process of the launcher does what they asked for: the kernel
first, and where it refuses so, name by name, a new folder and every file of the old one renamed into it.

That process stands in the box's mounts, as the program's user, with no capability and under the very
rules of Landlock that the program is under: whatever a name leads to, and whoever changes it meanwhile,
nothing comes of it that the program could not do itself. It is started when the first folder is renamed.
What goes wrong on the way is taken back, and the program is told what the kernel said.
"""

import _socket
import ctypes
import errno
import marshal
import os

from consentry.enforce.native import calls, restraint
from consentry.enforce.native.maker import DONE, FAILED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

RENAMING = ("rename", "renameat", "renameat2")
_MOST_ORDER = 1 << 15
_MOST_MOVED = 50_000
_LONGEST_PATH = 4096
_SIGKILL = 9
_NO_REPLACE = 1
_KIND, _FOLDER = 0o170000, 0o040000


class FolderMoves:
    """The launcher's side: sends what is to be renamed, and receives what became of it."""

    def __init__(
        self,
        wish: "Mapping[str, Any]",
        text: "Callable[[int, int], bytes]",
        whole: "Callable[[int, int | None, bytes], bytes]",
    ) -> None:
        self._wish = wish
        self._text, self._whole = text, whole
        self._socket, self._its = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self._pid = 0
        self._asked: set[int] = set()

    def fileno(self) -> int:
        """What becomes readable when something was renamed."""
        return self._socket.fileno()

    def ask(self, number: int, pid: int, name: str, arguments: "list[int]") -> bool:
        """Has a call carried out; false for one that goes on as it is."""
        has_folders = name != "rename"
        flags = arguments[4] & 0xFFFFFFFF if name == "renameat2" else 0
        if flags & ~_NO_REPLACE:
            return False
        places = (1, 3) if has_folders else (0, 1)
        names = [self._text(pid, arguments[at]) for at in places]
        old, new = (
            self._whole(pid, arguments[at - 1] if has_folders else None, name)
            for at, name in zip(places, names, strict=True)
        )
        if not all(names) or max(len(old), len(new)) >= _LONGEST_PATH:
            return False  # no name, or none that a folder so deep can be called by from the top
        if self._pid == 0:
            self._pid = calls.clone(0)
            if self._pid == 0:
                _live(pid, self._wish, self._its.detach())
            self._its.close()
        try:
            order = marshal.dumps((number, old, new, flags))
            self._socket.send(order, _socket.MSG_DONTWAIT)
        except OSError:
            return False
        self._asked.add(number)
        return True

    def answered(self) -> "tuple[int, int] | None":
        """A call's number and the error it ends with; None when nobody answers any more."""
        try:
            said = self._socket.recv(_MOST_ORDER)
        except OSError:
            return None
        if not said:
            return None
        number, what, error = marshal.loads(said)  # noqa: S302 - from our own process
        self._asked.discard(number)
        return number, 0 if what == DONE else error

    def given_up(self) -> "list[int]":
        """The calls that nobody will answer any more."""
        left = list(self._asked)
        self._asked.clear()
        return left

    def close(self) -> None:
        """Ends it."""
        self._socket.close()
        if self._pid == 0:
            self._its.close()
            return
        os.kill(self._pid, _SIGKILL)
        os.waitpid(self._pid, 0)


def _live(program: int, wish: "Mapping[str, Any]", requests: int) -> None:
    try:
        calls.prctl(calls.PR_SET_PDEATHSIG, _SIGKILL)
        restraint.stand_in_box(restraint.spaces_of(program, wish), wish, (requests,))
        socket = _socket.socket(fileno=requests)
        while order := socket.recv(_MOST_ORDER):
            number, old, new, flags = marshal.loads(order)  # noqa: S302 - from our own launcher
            try:
                _rename(old, new, flags)
                answer = DONE, 0
            except OSError as problem:
                answer = FAILED, problem.errno or errno.EXDEV
            socket.send(marshal.dumps((number, *answer)))
    finally:
        os._exit(0)


def _rename(old: bytes, new: bytes, flags: int) -> None:
    """As the kernel does it, or by hand."""
    try:
        _renamed(old, new, flags)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
    else:
        return
    old, new = old.rstrip(b"/"), new.rstrip(b"/")
    found = os.lstat(old)
    above = os.stat(os.path.dirname(new) or b"/")  # noqa: PTH116, PTH120 - pathlib is slow to load
    if found.st_mode & _KIND != _FOLDER or found.st_dev != above.st_dev:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    _make_room(new, flags)
    move = _Move()
    try:
        move.folder(old, new, found)
    except (OSError, RecursionError) as problem:
        move.take_back()
        number = getattr(problem, "errno", None)
        is_telling = number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
        raise OSError(number if is_telling else errno.EXDEV, "not renamed") from None
    move.finish()


def _make_room(new: bytes, flags: int) -> None:
    """An empty folder makes room for another, as the kernel has it."""
    if not os.path.lexists(new):
        return
    if flags & _NO_REPLACE:
        raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
    os.rmdir(new)  # noqa: PTH106 - as above


class _Move:
    """One folder that is renamed by hand: what was done, so that it can be taken back."""

    def __init__(self) -> None:
        self._done: list[tuple[bytes, bytes, os.stat_result | None]] = []

    def folder(self, old: bytes, new: bytes, found: os.stat_result) -> None:
        os.mkdir(new, 0o700)  # noqa: PTH102 - as above
        self._done.append((old, new, found))
        with os.scandir(old) as entries:
            inner = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        if len(self._done) + len(inner) > _MOST_MOVED:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        for name, is_folder in inner:
            from_, to = old + b"/" + name, new + b"/" + name
            try:
                os.rename(from_, to)  # noqa: PTH104 - as above
                self._done.append((from_, to, None))
            except OSError as problem:
                if problem.errno != errno.EXDEV or not is_folder:
                    raise
                self.folder(from_, to, os.lstat(from_))

    def finish(self) -> None:
        """The new folders become what the old ones were, and those go; inner ones first."""
        for old, new, found in reversed(self._done):
            if found is not None:
                _take_after(old, new, found)
                os.rmdir(old)  # noqa: PTH106 - as above

    def take_back(self) -> None:
        """As far as that is possible, everything is where it was."""
        for old, new, found in reversed(self._done):
            try:
                if found is None:
                    os.rename(new, old)  # noqa: PTH104 - as above
                else:
                    os.rmdir(new)  # noqa: PTH106 - as above
            except OSError:
                continue


def _take_after(old: bytes, new: bytes, found: os.stat_result) -> None:
    """Attributes, mode and times of a folder."""
    try:
        for mark in os.listxattr(old):
            if mark.startswith("user."):
                os.setxattr(new, mark, os.getxattr(old, mark))
    except OSError:
        pass  # a folder may keep its name and lose a mark, as with `mv`
    os.chmod(new, found.st_mode & 0o7777)  # noqa: PTH101 - as above
    os.utime(new, ns=(found.st_atime_ns, found.st_mtime_ns))


def _renamed(old: bytes, new: bytes, flags: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(calls.AT_FDCWD, old, calls.AT_FDCWD, new, flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
