"""Watches what a program asks the kernel for, and lets it go on: it sees, it never decides.

Every trapped call is looked at once: the name that was asked for, what it leads to inside the box,
and whether there is such a thing outside. Then the kernel does with the call what it would have done.
A second thread of the program may change the name in between, so what is noted here is `observed`
and no more. The notes are counts by name: a loop that opens one file a million times is one note.

Nothing that is read here is trusted: names are bytes, addresses may point anywhere, and an error
while looking is noted and never stops the program.
"""

import _socket
import ctypes
import errno
import fcntl
import os

from consentry.enforce.native import calls, maker
from consentry.enforce.native.directwrites import MAKING, DirectWrites
from consentry.enforce.native.syscallnumbers import NUMBERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_RECEIVE, _SEND, _IS_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
_ADD, _ADD_AND_SEND = 0x40182103, 2
_SYNC_WAKE_UP = 1
_CONTINUE = (1).to_bytes(4, "little")
_NOTIFICATION_BYTES = 80
_PAGE = 4096
_LONGEST_PATH = 4096
_MOST_NOTES, _MOST_NOTED_BYTES = 50_000, 32 << 20
_MOST_ARGUMENTS, _MOST_ARGUMENT_BYTES = 64, 4096
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_MOST_ADDRESS = 128
_KIND, _FOLDER = 0o170000, 0o040000

# For each call: what it is, which argument is the folder (or none), and which the name.
_NAMED = {
    "open": ("open", None, 0),
    "creat": ("create", None, 0),
    "openat": ("open", 0, 1),
    "openat2": ("open", 0, 1),
    "execve": ("exec", None, 0),
    "execveat": ("exec", 0, 1),
    "unlink": ("delete", None, 0),
    "unlinkat": ("delete", 0, 1),
    "rmdir": ("delete", None, 0),
    "mkdir": ("create", None, 0),
    "mkdirat": ("create", 0, 1),
    "symlink": ("create", None, 1),
    "symlinkat": ("create", 1, 2),
    "link": ("create", None, 1),
    "linkat": ("create", 2, 3),
    "rename": ("rename", None, 0),
    "renameat": ("rename", 0, 1),
    "renameat2": ("rename", 0, 1),
    "truncate": ("change", None, 0),
}
_TARGET = {"rename": (None, 1), "renameat": (2, 3), "renameat2": (2, 3)}


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


_libc = ctypes.CDLL(None, use_errno=True)
_read_memory = _libc.process_vm_readv
_read_memory.restype = ctypes.c_ssize_t


class Observer:
    """Serves the notifications of one box and keeps notes of them."""

    def __init__(self, listener: int, machine: str) -> None:
        self.listener = listener
        self._names = {
            number: name
            for name, number in NUMBERS[machine].items()
            if name in _NAMED or name in ("connect", "sendto")
        }
        self._buffer = bytearray(_NOTIFICATION_BYTES)
        self._page = ctypes.create_string_buffer(_PAGE)
        self._local = _Vector(ctypes.addressof(self._page), _PAGE)
        self._remote = _Vector(0, 0)
        self._root: int | None = None
        self._notes: dict[tuple[Any, ...], int] = {}
        self._noted_bytes = 0
        self._left_out = 0
        self._seen = 0
        self._problems = 0
        self._wakes_in_step = _wake_in_step(listener)
        self._direct: DirectWrites | None = None

    def have_names_made(self, wish: "Mapping[str, Any]") -> None:
        """From here on the maker answers calls that make a name in the folders of the wish."""
        self._direct = DirectWrites(wish, self._text, self._memory, self._whole)

    def serve(self) -> bool:
        """Handles one notification; false when nobody is left to be observed."""
        buffer = self._buffer
        buffer[:] = bytes(_NOTIFICATION_BYTES)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, buffer)
        except OSError as problem:
            # The caller died before its call was looked at, or all of them have.
            return problem.errno in (errno.ENOENT, errno.EINTR)
        self._seen += 1
        try:
            self._look(buffer)
        except Exception:  # noqa: BLE001 - a stranger chose every byte, and others depend on us
            self._problems += 1
        if self._direct is not None and self._is_made(self._direct, buffer):
            return True
        answer = bytes(buffer[:8]) + bytes(12) + _CONTINUE
        try:
            fcntl.ioctl(self.listener, _SEND, answer)
        except OSError as problem:
            return problem.errno == errno.ENOENT
        return True

    def _is_made(self, direct: DirectWrites, buffer: bytearray) -> bool:
        """Whether the call was answered by the maker; if not, the kernel refuses it in its folders."""
        pid = int.from_bytes(buffer[8:12], "little")
        name = self._names.get(int.from_bytes(buffer[16:20], "little"))
        if name not in MAKING:
            return False
        arguments = [int.from_bytes(buffer[at : at + 8], "little") for at in range(32, 80, 8)]
        try:
            what, number, text, opened = direct.made(pid, name, arguments)
        except Exception:  # noqa: BLE001 - as above
            self._problems += 1
            return False
        if what == maker.GO_ON:
            return False
        if what == maker.REFUSED:
            place, _, rule = text.partition(b"\0")
            self._note(("kept", place, False, False, rule.decode()))
        answer = bytes(buffer[:8]) + bytes(8) + (-number).to_bytes(4, "little", signed=True)
        request, answer = _SEND, answer + bytes(4)
        if opened is not None:
            closes = arguments[{"open": 1, "openat": 2}.get(name, 0)] & os.O_CLOEXEC
            parts = (_ADD_AND_SEND, opened, 0, closes if name in ("open", "openat") else 0)
            given = b"".join(part.to_bytes(4, "little") for part in parts)
            request, answer = _ADD, bytes(buffer[:8]) + given
        try:
            fcntl.ioctl(self.listener, request, answer)
        except OSError:
            pass  # it is gone, and with it whoever wanted to know
        finally:
            if opened is not None:
                os.close(opened)
        return True

    def notes(self) -> "dict[str, Any]":
        """What was seen so far."""
        return {
            "notes": [(*key, count) for key, count in self._notes.items()],
            "seen": self._seen,
            "left_out": self._left_out,
            "problems": self._problems,
        }

    def close(self) -> None:
        """Lets go of the listener and the box's root."""
        os.close(self.listener)
        if self._direct is not None:
            self._direct.close()
        if self._root is not None:
            os.close(self._root)

    def _look(self, buffer: bytearray) -> None:
        pid = int.from_bytes(buffer[8:12], "little")
        name = self._names.get(int.from_bytes(buffer[16:20], "little"))
        arguments = [int.from_bytes(buffer[at : at + 8], "little") for at in range(32, 80, 8)]
        if name is None:
            return
        if name in ("connect", "sendto"):
            self._look_at_address(pid, name, arguments)
            return
        kind, folder, path = _NAMED[name]
        flags = 0
        if kind == "open":
            flags = self._flags(pid, name, arguments)
        elif kind != "exec":
            flags = os.O_WRONLY
        self._note_path(pid, kind, arguments, folder, path, flags)
        if name in _TARGET:
            self._note_path(pid, "create", arguments, *_TARGET[name], os.O_WRONLY | os.O_CREAT)

    def _flags(self, pid: int, name: str, arguments: "list[int]") -> int:
        if name == "open":
            return arguments[1]
        if name == "openat":
            return arguments[2]
        return int.from_bytes(self._memory(pid, arguments[2], 8), "little")

    def _note_path(
        self,
        pid: int,
        kind: str,
        arguments: "list[int]",
        folder: int | None,
        path: int,
        flags: int,
    ) -> None:
        asked = self._text(pid, arguments[path])
        whole = self._whole(pid, None if folder is None else arguments[folder], asked)
        found, place, is_folder = self._resolved(pid, whole, kind, flags)
        if kind == "exec":
            words = self._words(pid, arguments[2 if folder is not None else 1])
            self._note((kind, place, found, is_folder, words))
            return
        if kind == "open":
            kind = "write" if flags & _WRITES else "look" if flags & os.O_PATH else "read"
        outside = found or os.path.lexists(place)
        self._note((kind, place, found, is_folder, outside))

    def _resolved(
        self, pid: int, whole: bytes, kind: str, flags: int
    ) -> "tuple[bool, bytes, bool]":
        """Whether there is such a thing inside, its name there, and whether it is a folder."""
        if self._root is None:
            self._root = os.open(b"/proc/%d/root" % pid, os.O_PATH | os.O_CLOEXEC)
        if whole.startswith(b"/proc/self"):
            whole = b"/proc/%d%s" % (_inner_pid(pid), whole[10:])
        keeps_link = kind in ("delete", "rename") or flags & os.O_NOFOLLOW
        try:
            opened = calls.openat2(
                self._root,
                whole,
                os.O_PATH | (os.O_NOFOLLOW if keeps_link else 0),
                calls.RESOLVE_IN_ROOT,
            )
        except OSError as problem:
            return False, self._missing(whole, problem.errno), False
        try:
            place = os.readlink(b"/proc/self/fd/%d" % opened)  # noqa: PTH115 - bytes, and quick
            is_folder = os.fstat(opened).st_mode & _KIND == _FOLDER
        finally:
            os.close(opened)
        return True, place, is_folder

    def _missing(self, whole: bytes, number: int | None) -> bytes:
        """The name of what is not there: its folder as far as it is there, and the rest."""
        folder, _, name = whole.rstrip(b"/").rpartition(b"/")
        if number in (errno.ENOENT, errno.EACCES) and folder and name not in (b".", b".."):
            try:
                opened = calls.openat2(self._root or 0, folder, os.O_PATH, calls.RESOLVE_IN_ROOT)
            except OSError:
                return _tidied(whole)
            try:
                held = os.readlink(b"/proc/self/fd/%d" % opened)  # noqa: PTH115 - as below
                return held.rstrip(b"/") + b"/" + name
            finally:
                os.close(opened)
        return _tidied(whole)

    def _whole(self, pid: int, folder: int | None, asked: bytes) -> bytes:
        return asked if asked.startswith(b"/") else self._base(pid, folder) + b"/" + asked

    def _base(self, pid: int, folder: int | None) -> bytes:
        if folder is None or folder & 0xFFFFFFFF == calls.AT_FDCWD & 0xFFFFFFFF:
            return os.readlink(b"/proc/%d/cwd" % pid)  # noqa: PTH115 - bytes, and quick
        return os.readlink(b"/proc/%d/fd/%d" % (pid, folder & 0xFFFFFFFF))  # noqa: PTH115 - bytes, and quick

    def _look_at_address(self, pid: int, name: str, arguments: "list[int]") -> None:
        at, length = (arguments[1], arguments[2]) if name == "connect" else arguments[4:6]
        raw = self._memory(pid, at, min(length, _MOST_ADDRESS))
        family = int.from_bytes(raw[:2], "little")
        if family == _socket.AF_INET:
            host = _socket.inet_ntop(family, raw[4:8])
        elif family == _socket.AF_INET6:
            host = _socket.inet_ntop(family, raw[8:24])
        elif family == _socket.AF_UNIX:
            name_of = raw[2:].partition(b"\0")[0] or b"@" + raw[3:].rstrip(b"\0")
            self._note(("unix", name_of, False, False, False))
            return
        else:
            return
        port = int.from_bytes(raw[2:4], "big")
        self._note(("connect", host.encode(), False, False, port))

    def _note(self, key: "tuple[Any, ...]") -> None:
        count = self._notes.get(key)
        if count is not None:
            self._notes[key] = count + 1
            return
        words = key[4] if isinstance(key[4], tuple) else ()
        size = len(key[1]) + sum(map(len, words))
        if len(self._notes) < _MOST_NOTES and self._noted_bytes + size <= _MOST_NOTED_BYTES:
            self._notes[key] = 1
            self._noted_bytes += size
        else:
            self._left_out += 1

    def _words(self, pid: int, at: int) -> "tuple[bytes, ...]":
        """The arguments of a program, as far as they fit."""
        words: list[bytes] = []
        total = 0
        while len(words) < _MOST_ARGUMENTS and total < _MOST_ARGUMENT_BYTES:
            pointer = int.from_bytes(self._memory(pid, at + 8 * len(words), 8), "little")
            if pointer == 0:
                break
            words.append(self._text(pid, pointer)[: _MOST_ARGUMENT_BYTES - total])
            total += len(words[-1])
        return tuple(words)

    def _text(self, pid: int, at: int) -> bytes:
        """The bytes up to a NUL; a page at a time, because the next page may not be there."""
        found = b""
        while len(found) < _LONGEST_PATH:
            part = self._memory(pid, at, _PAGE - at % _PAGE)
            end = part.find(b"\0")
            if end >= 0:
                return found + part[:end]
            found += part
            at += len(part)
        return found

    def _memory(self, pid: int, at: int, length: int) -> bytes:
        self._local.length = length
        self._remote.base, self._remote.length = at, length
        got = _read_memory(pid, ctypes.byref(self._local), 1, ctypes.byref(self._remote), 1, 0)
        if got < 0:
            raise calls.failed("process_vm_readv")
        return self._page.raw[:got]


def _wake_in_step(listener: int) -> bool:
    """Whether the kernel hands over to the observer on the same processor; slower without."""
    try:
        fcntl.ioctl(listener, _SET_FLAGS, _SYNC_WAKE_UP)
    except OSError:
        return False
    return True


def _inner_pid(pid: int) -> int:
    """The process's number inside the box."""
    descriptor = os.open(b"/proc/%d/status" % pid, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = os.read(descriptor, 4096)
    finally:
        os.close(descriptor)
    line = status.partition(b"NStgid:")[2].partition(b"\n")[0]
    return int(line.split()[-1]) if line.split() else pid


def _tidied(path: bytes) -> bytes:
    """Without `.`, `..` and doubled slashes, by spelling alone."""
    parts: list[bytes] = []
    for part in path.split(b"/"):
        if part == b"..":
            parts = parts[:-1]
        elif part not in (b"", b"."):
            parts.append(part)
    return b"/" + b"/".join(parts)
