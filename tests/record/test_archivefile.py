"""A sealed archive: what was written is read, and anything else is refused with its line."""

import io
import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import Digest, canonical_json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem
from consentry.record import archivefile
from consentry.record.archiveends import ArchivedRange, ArchiveHeader
from consentry.record.archivefile import (
    ArchiveReader,
    bounded_lines,
    check_archive,
    write_archive,
)
from consentry.record.chain import ChainRow, follow
from consentry.record.envelope import GENESIS, encode, hash_of
from tests.record.samples import WRITER, Drafts

OTHER = "machine-" + "2" * 32
HEADER = ArchiveHeader(
    archive_id="archive-00000000-0000-7000-8000-000000000001",
    store_id="store-" + "3" * 32,
    made_at=Instant(1_767_225_600_000),
)


def chain(length: int, writer: str) -> list[ChainRow]:
    """A sound chain with text in it that needs care."""
    drafts, rows, prev = Drafts(), [], GENESIS
    for seq in range(1, length + 1):
        event = encode(drafts.make(n=seq, text='é"\n\u2028'), writer).linked(seq, prev)
        rows.append(ChainRow(event.writer, event.seq, event.hash, event.body))
        prev = event.hash
    return rows


FIRST, SECOND = chain(6, WRITER), chain(3, OTHER)
_UNLIKE_BODY = FIRST[0].body.replace(b"tool:build", b"tool:guild")
UNLIKE = ChainRow(WRITER, 1, hash_of(_UNLIKE_BODY), _UNLIKE_BODY)
"""Sound by itself, and not what the second event continues."""


def written(rows: list[ChainRow]) -> bytes:
    """The archive of these rows."""
    file = io.BytesIO()
    write_archive(HEADER, rows, file.write)
    return file.getvalue()


ARCHIVE = written([*FIRST[2:], *SECOND])
LINES = ARCHIVE.splitlines(keepends=True)


def refused(content: bytes) -> tuple[int | None, str]:
    """The line and the message of the refusal; that it is refused is asserted."""
    with pytest.raises(BadInput) as caught:
        check_archive(io.BytesIO(content))
    assert caught.value.code is Code.ARCHIVE
    assert caught.value.where is not None
    return caught.value.where.line, caught.value.message


def test_an_archive_gives_back_every_event_and_says_what_it_holds() -> None:
    """Each writer's stretch with what it continues and where it ends."""
    reader = ArchiveReader(io.BytesIO(ARCHIVE))
    assert reader.header == HEADER
    assert reader.footer is None, "nothing is known about the end before it is reached"
    assert list(reader) == [*FIRST[2:], *SECOND]
    assert reader.footer is not None
    assert reader.footer.events == 7
    assert reader.footer.writers == (
        ArchivedRange(WRITER, 3, 6, Digest(FIRST[1].hash), Digest(FIRST[5].hash), 4),
        ArchivedRange(OTHER, 1, 3, GENESIS, Digest(SECOND[2].hash), 3),
    )
    assert check_archive(io.BytesIO(ARCHIVE)) == (HEADER, reader.footer)


def test_an_archived_stretch_can_be_put_back() -> None:
    """What came before it, the archive and what came behind it are one chain again."""
    stretch = written(FIRST[2:4])
    back = list(ArchiveReader(io.BytesIO(stretch)))
    assert isinstance(follow([*FIRST[:2], *back, *FIRST[4:]]), dict)


def test_events_that_stayed_in_the_ledger_leave_gaps_that_fit() -> None:
    """Some kinds are never archived: what went and what stayed are one chain again."""
    back = list(ArchiveReader(io.BytesIO(written([FIRST[0], FIRST[2], FIRST[3], FIRST[5]]))))
    whole = sorted([*back, FIRST[1], FIRST[4]], key=lambda row: row.seq)
    assert isinstance(follow(whole), dict)


def test_an_archive_without_events_is_one() -> None:
    """A first and a last line."""
    empty = written([])
    assert empty.count(b"\n") == 2
    assert check_archive(io.BytesIO(empty))[1].events == 0


def test_every_line_is_json_and_the_digest_is_over_all_before_the_last() -> None:
    """Anybody can check it with the tools at hand."""
    documents = [json.loads(line) for line in LINES]
    assert documents[0]["kind"] == "consentry-archive"
    assert documents[-1]["kind"] == "consentry-archive-end"
    assert documents[-1]["sha256"] == hash_of(b"".join(LINES[:-1]))
    assert all(canonical_json(json.loads(line)) + b"\n" == line for line in LINES)


@given(st.integers(0, len(ARCHIVE) - 1), st.integers(1, 255))
def test_any_flipped_byte_is_found(place: int, flip: int) -> None:
    """In the events, in the first line, in the last line, in a line feed."""
    changed = bytearray(ARCHIVE)
    changed[place] ^= flip
    line, _message = refused(bytes(changed))
    assert line is not None
    assert line <= len(LINES)


@given(st.integers(0, len(ARCHIVE) - 1))
def test_a_cut_file_is_found(end: int) -> None:
    """Wherever it ends."""
    line, _message = refused(ARCHIVE[:end])
    assert line == ARCHIVE[:end].count(b"\n") + 1


@given(st.binary(min_size=1, max_size=80) | st.sampled_from([b"\n", b" ", LINES[-1], ARCHIVE]))
def test_anything_behind_the_end_is_found(more: bytes) -> None:
    """Also an empty line, and a second archive."""
    assert refused(ARCHIVE + more) == (
        len(LINES) + 1,
        "something stands behind the end of the archive",
    )


@given(st.permutations(range(len(LINES))))
def test_any_other_order_of_lines_is_found(order: list[int]) -> None:
    """Only one order is the archive."""
    if order != list(range(len(LINES))):
        refused(b"".join(LINES[index] for index in order))


@pytest.mark.parametrize("index", range(len(LINES)))
def test_a_dropped_or_repeated_line_is_named(index: int) -> None:
    """The line that stands where another should."""
    dropped = b"".join([*LINES[:index], *LINES[index + 1 :]])
    line, _message = refused(dropped)
    # The first event of a writer has nothing before it, so its absence shows at the end.
    assert line in (index + 1, len(LINES) - 1)
    repeated, _message = refused(b"".join([*LINES[: index + 1], *LINES[index:]]))
    assert repeated == index + 2


def sealed_anew(lines: list[bytes]) -> bytes:
    """The lines with a last line whose digest is right, as somebody who wants to deceive makes it."""
    body = b"".join(lines)
    footer = json.loads(LINES[-1])
    return body + canonical_json({**footer, "sha256": hash_of(body)}) + b"\n"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([*LINES[:2], *LINES[3:-1]], "are not the ones that this line names"),
        ([*LINES[:3], LINES[2], *LINES[3:-1]], "repeated or moved"),
        ([LINES[0], *LINES[5:-1], *LINES[1:5]], "stands behind events of"),
        (LINES[:-2], "are not the ones that this line names"),
        ([LINES[0], *LINES[2:-1]], "are not the ones that this line names"),
        (
            [*LINES[:3], LINES[3].replace(b"tool:build", b"tool:guild"), *LINES[4:-1]],
            "its bytes do not have its hash",
        ),
    ],
)
def test_a_digest_made_anew_does_not_hide_a_change(lines: list[bytes], said: str) -> None:
    """Each event is checked for itself and for its place."""
    assert said in refused(sealed_anew(lines))[1]


def test_an_archive_written_anew_as_a_whole_reads_and_has_other_hashes() -> None:
    """What the format cannot show: the ledger's own hashes of what it archived do."""
    forged = written(chain(4, WRITER))
    (_, footer) = check_archive(io.BytesIO(forged))
    assert footer.writers[0].last_hash == FIRST[3].hash
    changed = [row._replace(body=row.body.replace(b"tool:build", b"tool:guild")) for row in FIRST]
    first = changed[0]._replace(hash=hash_of(changed[0].body))
    (_, footer) = check_archive(io.BytesIO(written([first])))
    assert footer.writers[0].last_hash != FIRST[0].hash


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([UNLIKE, FIRST[1]], "does not follow event 1"),
        ([FIRST[1], FIRST[0]], "repeated or moved"),
        ([FIRST[0], FIRST[0]], "repeated or moved"),
        ([SECOND[0], FIRST[0]], "stands behind events of"),
        ([FIRST[0]._replace(body=FIRST[0].body[:-1])], "is damaged"),
        ([FIRST[0]._replace(hash=FIRST[1].hash)], "was changed"),
        ([FIRST[0], FIRST[1]._replace(writer=OTHER)], "is damaged"),
    ],
)
def test_what_is_not_sound_is_not_sealed(rows: list[ChainRow], said: str) -> None:
    """An archive never makes a broken chain look kept."""
    with pytest.raises(LedgerProblem) as caught:
        written(rows)
    assert caught.value.code is Code.CHAIN_BROKEN
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        (b'"schema_version":1', b'"schema_version":2', "schema_version"),
        (b'"kind":"consentry-archive"', b'"kind":"consentry-export"', "kind"),
        (b'"archive_id":"archive-', b'"archive_id":"invoice-', "archive_id"),
        (b'"made_at":"2026-01-01T00:00:00.000Z"', b'"made_at":"2026-01-01T00:00:00Z"', "made_at"),
        (b'"store_id":"store-' + b"3" * 32 + b'"', b'"store_id":""', "store_id"),
        (b',"store_id":"store-' + b"3" * 32 + b'"', b"", "store_id"),
    ],
)
def test_a_wrong_header_is_refused_with_its_field(old: bytes, new: bytes, field: str) -> None:
    """Line 1, and which field it is."""
    changed = LINES[0].replace(old, new)
    assert changed != LINES[0]
    with pytest.raises(BadInput) as caught:
        ArchiveReader([changed])
    assert caught.value.where is not None
    assert (caught.value.where.line, caught.value.where.field) == (1, field)


def test_a_line_without_end_is_not_read_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is longer than any event comes cut, and is refused."""
    monkeypatch.setattr(archivefile, "MOST_LINE", 1000)
    endless = io.BytesIO(LINES[0] + b"x" * 5000)
    with pytest.raises(BadInput) as caught:
        check_archive(bounded_lines(endless.readline))
    assert "cut off" in caught.value.message
    assert endless.tell() < 3000
    small = written([])
    assert check_archive(bounded_lines(io.BytesIO(small).readline))[1].events == 0


def test_writing_and_reading_hold_one_event_at_a_time() -> None:
    """A row is asked for only when the line of the one before was written, and so for lines."""
    written_lines: list[bytes] = []

    def rows() -> Iterator[ChainRow]:
        for count, row in enumerate(FIRST):
            assert len(written_lines) == count + 1
            yield row

    write_archive(HEADER, rows(), written_lines.append)
    taken = 0

    def lines() -> Iterator[bytes]:
        nonlocal taken
        for line in written_lines:
            taken += 1
            yield line

    for count, _row in enumerate(ArchiveReader(lines()), 2):
        assert taken == count
