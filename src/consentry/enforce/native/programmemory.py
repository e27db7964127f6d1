"""Reads what a confined program points at: names, arguments, addresses of sockets.

Every pointer is a stranger's: it may lead nowhere, to a page that ends too soon, or to bytes that
another thread is changing. What cannot be read raises `OSError`. No read is longer than a page, and
none goes past the page's end before what lies on it was looked at.

The memory of the processes that asked last is kept open for a moment, because a read through an open
file is the cheapest one. Such a file shows the memory that the process had when it was opened: it is
forgotten when anybody starts a program, and where it shows nothing the process is asked again.
"""

import ctypes
import errno
import os

from consentry.enforce.native import calls
from consentry.enforce.native.namesinside import HIGHEST_REMEMBERED

PAGE = 4096
LONGEST_PATH = 4096
MOST_ADDRESS = 128
_FIRST_PART = 256
_MOST_PROCESSES = 16
_MOST_ARGUMENTS, _MOST_ARGUMENT_BYTES = 64, 4096

# The layout of `struct msghdr` and `struct mmsghdr`, the same on both machines.
_NAME_AND_LENGTH, _MESSAGE, MOST_MESSAGES = 12, 64, 64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


_libc = ctypes.CDLL(None, use_errno=True)
_read_memory = _libc.process_vm_readv
_read_memory.restype = ctypes.c_ssize_t


class ProgramMemory:
    """One buffer, into which pieces of the memory of any process are read."""

    def __init__(self) -> None:
        self._buffer = ctypes.create_string_buffer(PAGE)
        self._local, self._remote = _Vector(ctypes.addressof(self._buffer), PAGE), _Vector(0, 0)
        # Made once: this is the busiest place of the launcher.
        self._into, self._from = ctypes.byref(self._local), ctypes.byref(self._remote)
        self._kept: dict[int, int] = {}

    def forget(self) -> None:
        """Opens the memory of every process anew from here on."""
        for descriptor in self._kept.values():
            os.close(descriptor)
        self._kept.clear()

    def bytes_at(self, pid: int, at: int, length: int) -> bytes:
        """So many bytes, or as many as there are; at most a page."""
        got = self._read(pid, at, min(length, PAGE))
        return ctypes.string_at(self._buffer, got)

    def text_at(self, pid: int, at: int) -> bytes:
        """The bytes up to a NUL."""
        kept = self._kept.get(pid)
        try:
            if kept is None:
                kept = self._keep(pid)
            found, end, _ = os.pread(kept, _FIRST_PART, at).partition(b"\0")
            if end:
                return found
        except (OSError, OverflowError):
            pass  # it may be read all the same
        return self._text_of(pid, at)

    def _keep(self, pid: int) -> int:
        opened = os.open(b"/proc/%d/mem" % pid, os.O_RDONLY | os.O_CLOEXEC)
        if len(self._kept) >= _MOST_PROCESSES or opened > HIGHEST_REMEMBERED:
            self.forget()
        self._kept[pid] = opened
        return opened

    def _text_of(self, pid: int, at: int) -> bytes:
        room = PAGE - at % PAGE
        got = self._read(pid, at, min(_FIRST_PART, room))
        found: bytes = self._buffer.value
        if len(found) < got:
            return found
        return self._long_text(pid, at, ctypes.string_at(self._buffer, got))

    def _long_text(self, pid: int, at: int, found: bytes) -> bytes:
        while len(found) < LONGEST_PATH:
            here = at + len(found)
            part = self.bytes_at(pid, here, PAGE - here % PAGE)
            end = part.find(b"\0")
            if end >= 0:
                return found + part[:end]
            found += part
        return found

    def words_at(self, pid: int, at: int) -> "tuple[bytes, ...]":
        """The arguments of a program, as far as they fit."""
        words: list[bytes] = []
        total = 0
        for pointer in self._pointers_at(pid, at):
            if total >= _MOST_ARGUMENT_BYTES:
                break
            words.append(self.text_at(pid, pointer)[: _MOST_ARGUMENT_BYTES - total])
            total += len(words[-1])
        return tuple(words)

    def _pointers_at(self, pid: int, at: int) -> "Iterator[int]":
        """Those before a zero, read a page at a time."""
        left = _MOST_ARGUMENTS
        while left:
            # A pointer may lie across the end of a page; it is read by itself then.
            count = max(1, min(left, (PAGE - at % PAGE) // 8))
            part = self.bytes_at(pid, at, 8 * count)
            for pointer in memoryview(part[: len(part) & ~7]).cast("Q"):
                if pointer == 0:
                    return
                yield pointer
            if len(part) < 8 * count:
                return
            left -= count
            at += 8 * count

    def addressed_at(self, pid: int, at: int, count: int) -> "list[tuple[int, int]]":
        """Where the addresses of so many messages lie, and how long they are; none for some."""
        found: list[tuple[int, int]] = []
        for number in range(count):
            raw = self.bytes_at(pid, at + _MESSAGE * number, _NAME_AND_LENGTH)
            pointer = int.from_bytes(raw[:8], "little")
            if pointer:
                found.append((pointer, int.from_bytes(raw[8:12], "little")))
        return found

    def _read(self, pid: int, at: int, length: int) -> int:
        self._local.length = self._remote.length = length
        self._remote.base = at
        got: int = _read_memory(pid, self._into, 1, self._from, 1, 0)
        if got < 0:
            if ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
                raise calls.failed("process_vm_readv")
            return self._read_by_file(pid, at, length)
        return got

    def _read_by_file(self, pid: int, at: int, length: int) -> int:
        """Where a filter around us refuses the call, as in containers."""
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.preadv(memory, [memoryview(self._buffer)[:length]], at)
        finally:
            os.close(memory)
