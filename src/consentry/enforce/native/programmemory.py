"""Reads what a confined program points at: names, arguments, addresses of sockets.

Every pointer is a stranger's: it may lead nowhere, to a page that ends too soon, or to bytes that
another thread is changing. What cannot be read raises `OSError`. No read is longer than a page, and
none goes past the page's end before what lies on it was looked at.
"""

import ctypes

from consentry.enforce.native import calls

PAGE = 4096
LONGEST_PATH = 4096
MOST_ADDRESS = 128
_FIRST_PART = 256
_MOST_ARGUMENTS, _MOST_ARGUMENT_BYTES = 64, 4096

# The layout of `struct msghdr` and `struct mmsghdr`, the same on both machines.
_NAME_AND_LENGTH, _MESSAGE, MOST_MESSAGES = 12, 64, 64


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

    def bytes_at(self, pid: int, at: int, length: int) -> bytes:
        """So many bytes, or as many as there are; at most a page."""
        got = self._read(pid, at, min(length, PAGE))
        return ctypes.string_at(self._buffer, got)

    def number_at(self, pid: int, at: int) -> int:
        """Eight bytes as a number."""
        return int.from_bytes(self.bytes_at(pid, at, 8), "little")

    def text_at(self, pid: int, at: int) -> bytes:
        """The bytes up to a NUL."""
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
        while len(words) < _MOST_ARGUMENTS and total < _MOST_ARGUMENT_BYTES:
            pointer = self.number_at(pid, at + 8 * len(words))
            if pointer == 0:
                break
            words.append(self.text_at(pid, pointer)[: _MOST_ARGUMENT_BYTES - total])
            total += len(words[-1])
        return tuple(words)

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
            raise calls.failed("process_vm_readv")
        return got
