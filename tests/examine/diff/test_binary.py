"""Binary contents: whole or refused, and deltas that cannot reach beyond what they are made from."""

import zlib
from base64 import b85encode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.examine.diff.binary import MOST_CONTENT, made_by
from consentry.examine.diff.changes import BinaryPart, DiffIncomplete, DiffMismatch, Packing
from consentry.examine.diff.difflines import MOST_UNPACKED
from consentry.examine.diff.parsing import parse_diff
from tests.examine.diff.gitdiffs import Entry, new_repository
from tests.examine.diff.samples import NOISE

HEAD = f"diff --git a/f b/f\nindex {'1' * 40}..{'2' * 40} 100644\nGIT binary patch\n".encode()


def coded(content: bytes) -> bytes:
    """The lines of a part for these packed bytes."""
    lines = []
    for start in range(0, len(content), 52):
        piece = content[start : start + 52]
        letter = piece_letter(len(piece))
        lines.append(letter + b85encode(piece.ljust(-(-len(piece) // 4) * 4, b"\0")) + b"\n")
    return b"".join(lines)


def piece_letter(count: int) -> bytes:
    """The letter that says how many bytes a line has."""
    return bytes([count + 64 if count <= 26 else count + 70])


def part(content: bytes, size: int | None = None, packed: bytes | None = None) -> bytes:
    """A literal part, right unless something else is said."""
    lines = coded(zlib.compress(content) if packed is None else packed)
    return b"literal %d\n%s\n" % (len(content) if size is None else size, lines)


def reason(text: bytes) -> str:
    """Why a diff is not taken."""
    with pytest.raises(DiffIncomplete) as caught:
        parse_diff(text)
    return caught.value.reason


def test_a_part_of_ours_is_read() -> None:
    """So that the refusals below are about what they change."""
    [change] = parse_diff(HEAD + part(NOISE) + part(b"")).changes
    assert change.binary is not None
    assert change.binary.forward == BinaryPart(Packing.LITERAL, NOISE)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "the diff ends where a binary content must follow"),
        (part(NOISE), "the diff ends where a binary content must follow"),
        (part(NOISE)[:-1], "the diff ends where the rest of a binary content must follow"),
        (part(NOISE, size=3) + part(b""), "a binary content is not as long as it says"),
        (part(NOISE, size=9999) + part(b""), "a binary content is not as long as it says"),
        (part(NOISE, packed=b"nonsense") + part(b""), "a binary content cannot be unpacked"),
        (part(NOISE, packed=zlib.compress(NOISE)[:-3]), "a binary content is not as long as it says"),
        (part(b"x", packed=zlib.compress(b"x") + b"more"), "a binary content is not as long as it says"),
        (b"literal 1\n!!!!!\n\n", "a line of a binary content cannot be decoded"),
        (b"literal 1\nA\n\n", "a line of a binary content cannot be decoded"),
        (b"literal 1\nA~~~~~\n\n", "a line of a binary content cannot be decoded"),
        (b"literal 1\nA00001\n\n", "a line of a binary content is longer than it says"),
        (b"literal 01\n\n", "`literal` or `delta` with a size is expected"),
        (b"hello\n", "`literal` or `delta` with a size is expected"),
        (b"literal %d\n\n" % (MOST_CONTENT + 1), f"a binary content has more than {MOST_CONTENT:,} bytes"),
    ],
)  # fmt: skip
def test_what_is_refused(body: bytes, why: str) -> None:
    """GUARD T5: a binary patch that was cut, or that is none."""
    assert reason(HEAD + body) == why


def test_a_binary_patch_names_its_contents_in_full() -> None:
    """The first digits of an id would not show that a literal fits."""
    short = HEAD.replace(b"1" * 40, b"1" * 7).replace(b"2" * 40, b"2" * 7)
    assert "whole ids" in reason(short + part(NOISE) + part(b""))
    without = HEAD.replace(HEAD.split(b"\n")[1] + b"\n", b"")
    assert "whole ids" in reason(without + part(NOISE) + part(b""))


def test_much_cannot_be_packed_into_little() -> None:
    """What unpacks to more than it says is not unpacked, and all together is bounded."""
    bomb = zlib.compress(b"\0" * (8 << 20))
    assert (
        reason(HEAD + part(b"", size=10, packed=bomb))
        == "a binary content is not as long as it says"
    )
    size = MOST_CONTENT
    pieces = [
        HEAD.replace(b"a/f b/f", b"a/f%d b/f%d" % (number, number)) + b"literal %d\n" % size
        for number in range(MOST_UNPACKED // size + 1)
    ]
    zeros = coded(zlib.compress(b"\0" * size, 9))
    text = b"".join(each + zeros + b"\n" + part(b"") for each in pieces)
    assert "together" in reason(text)


def delta(*steps: bytes, source: int, size: int) -> BinaryPart:
    """A delta of these steps."""
    return BinaryPart(Packing.DELTA, number(source) + number(size) + b"".join(steps))


def number(value: int) -> bytes:
    """A number of seven bits a byte."""
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def test_the_steps_of_a_delta() -> None:
    """Copy from the source, or insert."""
    assert made_by(delta(b"\x91\x01\x02", b"\x01X", source=4, size=3), b"abcd") == b"bcX"
    big = b"x" * 0x10000
    assert made_by(delta(b"\x80", source=len(big), size=len(big)), big) == big


@pytest.mark.parametrize(
    "broken",
    [
        BinaryPart(Packing.DELTA, b""),
        BinaryPart(Packing.DELTA, b"\x80" * 20),
        delta(source=4, size=1),
        delta(b"\x00", source=4, size=0),
        delta(b"\x91\x03\x02", source=4, size=2),
        delta(b"\x91\x03", source=4, size=2),
        delta(b"\x05ab", source=4, size=5),
        delta(b"\x02ab", source=4, size=1),
        delta(b"\x01a", source=3, size=1),
        delta(b"\x01a", source=4, size=MOST_CONTENT + 1),
    ],
)
def test_a_delta_that_reaches_beyond(broken: BinaryPart) -> None:
    """Beyond its source, its own bytes, or the length that it says."""
    with pytest.raises(DiffMismatch):
        made_by(broken, b"abcd")


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_any_delta(content: bytes, source: bytes) -> None:
    """A content or a mismatch, and nothing else."""
    try:
        made = made_by(BinaryPart(Packing.DELTA, content), source)
    except DiffMismatch:
        return
    assert len(made) <= MOST_CONTENT


def test_a_changed_byte_is_seen(tmp_path: Path) -> None:
    """Each letter of the content counts."""
    text = new_repository(tmp_path).diff({b"f": Entry(b"\0")}, {b"f": Entry(NOISE)})
    start = text.index(b"literal")
    for at in range(text.index(b"\n", start) + 1, text.index(b"\n\n", start), 37):
        swapped = text[:at] + (b"1" if text[at : at + 1] != b"1" else b"2") + text[at + 1 :]
        assert reason(swapped)
