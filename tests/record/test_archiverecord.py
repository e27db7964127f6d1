"""What the ledger records of an archive: the same parts from the same hashes, read back as written."""

import pytest

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.base.errors import BadInput
from consentry.record.archiverecord import ArchiveRecord, PartTally, parts_of, record_in
from consentry.record.envelope import hash_of
from tests.record.payloads import sample_id

ONE, TWO = "machine-" + "1" * 32, "machine-" + "2" * 32
HASHES = [hash_of(str(number).encode()) for number in range(7)]
IDS = [sample_id("event", number) for number in range(1, 8)]
ROWS = [
    (ONE, 2, HASHES[0], IDS[0]),
    (ONE, 3, HASHES[1], IDS[1]),
    (ONE, 7, HASHES[2], IDS[2]),
    (TWO, 1, HASHES[3], IDS[3]),
]
RECORD = ArchiveRecord(
    sample_id("archive"), Digest("sha256:" + "a" * 64), Instant(0), "30d", parts_of(ROWS)
)


def test_a_part_says_how_many_from_where_to_where_and_the_root() -> None:
    """The root is over hashes and ids: another one of either, or another order, is another root."""
    first, second = RECORD.parts
    assert (first.writer, first.events, first.first_seq, first.last_seq) == (ONE, 3, 2, 7)
    others = [
        parts_of([(ONE, 2, HASHES[4], IDS[0]), *ROWS[1:3]]),
        parts_of([(ONE, 2, HASHES[0], IDS[4]), *ROWS[1:3]]),
        parts_of([(ONE, 2, *ROWS[1][2:]), (ONE, 3, *ROWS[0][2:]), ROWS[2]]),
    ]
    assert parts_of(ROWS[:3]) == (first,)
    assert first.root not in {part.root for parts in others for part in parts}
    assert (second.writer, second.events, second.first_seq, second.last_seq) == (TWO, 1, 1, 1)
    assert RECORD.events == 4


def test_hashes_may_come_in_runs() -> None:
    """As they do where the archives of a chain lie side by side."""
    tally = PartTally(ONE)
    tally.take([(2, HASHES[0], IDS[0])])
    tally.take([(3, HASHES[1], IDS[1]), (7, HASHES[2], IDS[2])])
    assert tally.part() == RECORD.parts[0]


def test_what_is_no_hash_is_refused_at_its_place() -> None:
    """So that whoever asked can name it."""
    tally = PartTally(ONE)
    with pytest.raises(BadInput):
        tally.take([ROWS[0][1:], (3, "sha256:x", IDS[1]), ROWS[2][1:]])
    assert tally.last_seq == 3


def test_a_record_is_read_back_as_it_was_written() -> None:
    """And not when a field is missing."""
    payload = RECORD.payload()
    assert record_in(payload) == RECORD
    for name in payload:
        with pytest.raises(BadInput):
            record_in({key: value for key, value in payload.items() if key != name})
