"""The body of a request, part by part, and not a byte of what comes after it.

A body has a length, or is a row of chunks, each with its own. Chunks are written anew, so that nothing
but what was understood reaches the host.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from consentry.enforce.egress.heads import BadHead, Request

_PART: Final = 1 << 16
_SIZE: Final = re.compile(rb"[0-9A-Fa-f]{1,8}")
_MOST_LINE: Final = 4096


def body_parts(read: Callable[[int], bytes], request: Request) -> Iterator[bytes]:
    """What follows a request; `read` gives at most so many bytes, and at least one."""
    if request.is_chunked:
        yield from _chunks(read)
    else:
        yield from _counted(read, request.body_bytes)


def _counted(read: Callable[[int], bytes], left: int) -> Iterator[bytes]:
    while left:
        part = read(min(left, _PART))
        left -= len(part)
        yield part


def _chunks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while True:
        size = _size(_line(read))
        if size == 0:
            break
        yield b"%x\r\n" % size
        yield from _counted(read, size)
        if _line(read) != b"":
            raise BadHead("a chunk is longer than it says")
        yield b"\r\n"
    if _line(read) != b"":
        raise BadHead("there are fields behind the chunks")
    yield b"0\r\n\r\n"


def _size(line: bytes) -> int:
    if _SIZE.fullmatch(line) is None:
        raise BadHead("the size of a chunk is no number")
    return int(line, 16)


def _line(read: Callable[[int], bytes]) -> bytes:
    line = b""
    while not line.endswith(b"\r\n"):
        if len(line) > _MOST_LINE:
            raise BadHead("a line of a chunk is too long")
        line += read(1)
    return line[:-2]
