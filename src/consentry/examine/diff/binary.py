"""Binary contents in diffs: `GIT binary patch`, and the steps of a delta.

    literal 11
    ScmZ>F$@^rH…               a letter for the number of bytes, then base 85

A part ends with an empty line. It is whole when what it unpacks to is as long as it says, and the
packed stream ends where the lines end. Git writes the way back behind the way forth; a diff that
lacks it was cut.
"""

import re
from base64 import b85decode
from typing import Final

from consentry.examine.diff.changes import BinaryPart, BinaryPatch, DiffMismatch, Packing
from consentry.examine.diff.difflines import DiffLines

START: Final = b"GIT binary patch"
MOST_CONTENT: Final = 64 << 20

_HEAD: Final = re.compile(rb"(literal|delta) (0|[1-9][0-9]{0,9})")
_COUNTS: Final = {
    letter: count
    for count, letter in enumerate(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 1)
}
_CODED, _PLAIN = 5, 4
_COPY: Final = 0x80
_MORE: Final = 0x80
_USUAL_COPY: Final = 0x10000
_MOST_SHIFT: Final = 35
_BYTES_OF_START, _BYTES_OF_COUNT = 4, 3


def read_binary(lines: DiffLines) -> BinaryPatch:
    """Both parts; the line that opens them was taken."""
    return BinaryPatch(_read_part(lines), _read_part(lines))


def _read_part(lines: DiffLines) -> BinaryPart:
    head = _HEAD.fullmatch(lines.take("a binary content"))
    if head is None:
        lines.stop_before("`literal` or `delta` with a size is expected")
    size = int(head[2])
    if size > MOST_CONTENT:
        lines.stop_before(f"a binary content has more than {MOST_CONTENT:,} bytes")
    lines.unpack(size)
    packed = bytearray()
    while line := lines.take("the rest of a binary content"):
        packed += _decoded(line, lines)
    return BinaryPart(Packing(head[1].decode()), _inflated(bytes(packed), size, lines))


def _decoded(line: bytes, lines: DiffLines) -> bytes:
    count = _COUNTS.get(line[0], 0)
    whole = -(-count // _PLAIN)
    try:
        decoded = b85decode(line[1:])
    except ValueError:
        decoded = b""
    if not count or len(line) != 1 + whole * _CODED or len(decoded) != whole * _PLAIN:
        lines.stop_before("a line of a binary content cannot be decoded")
    if any(decoded[count:]):
        lines.stop_before("a line of a binary content is longer than it says")
    return decoded[:count]


def _inflated(packed: bytes, size: int, lines: DiffLines) -> bytes:
    import zlib  # noqa: PLC0415 - few diffs have binary contents

    stream = zlib.decompressobj()
    try:
        content = stream.decompress(packed, size + 1)
        # The check sum may still be unread when all content is there.
        content += stream.decompress(stream.unconsumed_tail, 1)
    except zlib.error:
        lines.stop_before("a binary content cannot be unpacked")
    if len(content) != size or not stream.eof or stream.unused_data:
        lines.stop_before("a binary content is not as long as it says")
    return content


def made_by(part: BinaryPart, source: bytes) -> bytes:
    """What a part makes from the content before it."""
    return part.content if part.packing is Packing.LITERAL else _delta_applied(part.content, source)


def _delta_applied(delta: bytes, source: bytes) -> bytes:
    """The steps of a delta: copy a piece of the source, or insert bytes of its own."""
    expected, at = _number(delta, 0)
    size, at = _number(delta, at)
    if expected != len(source):
        raise DiffMismatch("a delta was made from a content of another length")
    if size > MOST_CONTENT:
        raise DiffMismatch(f"a delta makes more than {MOST_CONTENT:,} bytes")
    made = bytearray()
    while at < len(delta):
        step = delta[at]
        at += 1
        if step & _COPY:
            (start, count), at = _copied(delta, at, step)
            piece = source[start : start + count]
        else:
            count, piece = step, delta[at : at + step]
            at += step
        if not count or len(piece) != count or len(made) + count > size:
            raise DiffMismatch("a step of a delta reaches beyond its content")
        made += piece
    if len(made) != size:
        raise DiffMismatch("a delta makes another length than it says")
    return bytes(made)


def _number(delta: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    number = shift = 0
    while at < len(delta) and shift <= _MOST_SHIFT:
        byte = delta[at]
        number |= (byte & ~_MORE) << shift
        at, shift = at + 1, shift + 7
        if not byte & _MORE:
            return number, at
    raise DiffMismatch("a delta has a number without an end")


def _copied(delta: bytes, at: int, step: int) -> tuple[tuple[int, int], int]:
    """Where a piece begins, how long it is, and where the step ends; a bit says for each byte."""
    numbers = [0, 0]
    for bit in range(_BYTES_OF_START + _BYTES_OF_COUNT):
        if step >> bit & 1:
            if at >= len(delta):
                raise DiffMismatch("a delta ends within a step")
            which, shift = (0, bit) if bit < _BYTES_OF_START else (1, bit - _BYTES_OF_START)
            numbers[which] |= delta[at] << 8 * shift
            at += 1
    return (numbers[0], numbers[1] or _USUAL_COPY), at
