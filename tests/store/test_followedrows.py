"""All rows by time, and the verdict on their chains with them, on either database."""

import json

import pytest

from consentry.record.chain import ChainFault
from consentry.record.signoffstates import StatesInMemory
from consentry.store.database import Database
from consentry.store.followedrows import FollowedRows
from consentry.store.ledger import Ledger
from tests.record.samples import WRITER, Drafts
from tests.record.signoffsamples import WRITERS, Story
from tests.store.archiving import OTHER, all_before, taken_out
from tests.store.conftest import Store
from tests.store.rawevents import put_raw


def followed(database: Database) -> tuple[list[tuple[str, int]], list[ChainFault]]:
    """The places of the rows in the order they came, and what was found wrong."""
    rows = FollowedRows(database, StatesInMemory())
    return [(row.writer, row.seq) for row in rows], rows.faults


def test_rows_come_by_time_whoever_wrote_them(store: Store) -> None:
    """And all chains verify."""
    database, drafts = store.open(), Drafts()
    for _ in range(3):
        for writer in (OTHER, WRITER):
            Ledger(database, writer).append(drafts.make())
    found, faults = followed(database)
    assert found == [(writer, seq) for seq in (1, 2, 3) for writer in (OTHER, WRITER)]
    assert faults == []


def test_a_clock_that_was_set_back_is_no_fault(store: Store) -> None:
    """The later event of a chain has the earlier time; it waits for the one that it names."""
    story = Story()
    for minute in (30, 10, 20, 5, 40):
        story.approved(minute)
    database = store.open()
    put_raw(database, story.rows())
    found, faults = followed(database)
    assert [seq for _, seq in found] == [4, 2, 3, 1, 5]
    assert faults == []


@pytest.mark.parametrize(
    ("statement", "seq", "why"),
    [
        ("UPDATE ledger_event SET hash = 'sha256:0' WHERE seq = 2", 2, "was changed"),
        ("DELETE FROM ledger_event WHERE seq = 2", 2, "is missing"),
        ("DELETE FROM ledger_event WHERE seq = 4", 4, "is missing"),
        ("UPDATE ledger_head SET seq = 3", 4, "is not what the head"),
        ("UPDATE ledger_head SET hash = 'sha256:0'", 4, "is not what the head"),
        ("DELETE FROM ledger_head", 1, "belongs to a writer without a head"),
        ("UPDATE ledger_event SET seq = 9 WHERE seq = 3", None, ""),
        ("UPDATE ledger_event SET seq = 0 WHERE seq = 3", None, ""),
    ],
)
def test_a_change_is_found_while_reading(
    store: Store, statement: str, seq: int | None, why: str
) -> None:
    """Every row is given all the same; a fault is told at the end, at its place."""
    database, drafts = store.open(), Drafts()
    ledger = Ledger(database, WRITER)
    for _ in range(4):
        ledger.append(drafts.make())
    with database.writing() as transaction:
        transaction.run(statement)
    _, [fault] = followed(database)
    assert fault.writer == WRITER
    if seq is not None:
        assert (fault.seq, fault.why.startswith(why)) == (seq, True)


def test_another_event_before_it_is_found_also_where_it_waited(store: Store) -> None:
    """Whole bytes with their right hash, at the right place, that name another event."""
    for minutes in ((1, 2, 3), (3, 2, 1)):
        story, other = Story(), Story()
        for minute in minutes:
            story.approved(minute)
            other.approved(minute, moduleId="counter")
        rows = sorted(story.rows(), key=lambda row: row.seq)
        rows[1] = next(row for row in other.rows() if row.seq == 2)
        database = store.open()
        with database.writing() as transaction:
            transaction.run("DELETE FROM ledger_event")
        put_raw(database, rows)
        _, [fault] = followed(database)
        assert (fault.writer, fault.seq) == (WRITERS[0], 2)
        assert fault.why.startswith("does not continue the chain")


def test_archived_events_are_passed_by_their_hashes(store: Store) -> None:
    """They have no row any more; the chain goes on behind them, and they are not read."""
    database, drafts = store.open(), Drafts()
    ledger, other = Ledger(database, WRITER), Ledger(database, OTHER)
    for _ in range(6):
        ledger.append(drafts.make())
        other.append(drafts.make())
    taken_out(ledger, drafts, all_before(7))
    found, faults = followed(database)
    assert len(found) == 7
    assert faults == []
    with database.writing() as transaction:
        transaction.run("UPDATE archived_event SET hash = ? WHERE seq = 2", ("sha256:" + "0" * 64,))
    _, faults = followed(database)
    assert faults
    assert all(isinstance(each, ChainFault) for each in faults)


def test_all_events_of_a_writer_may_be_archived(store: Store) -> None:
    """Then nothing is left of it but its head and the list."""
    database, drafts = store.open(), Drafts()
    ledger, other = Ledger(database, WRITER), Ledger(database, OTHER)
    other.append(drafts.make(), drafts.make())
    ledger.append(drafts.make())
    taken_out(ledger, drafts, all_before(3))
    found, faults = followed(database)
    assert {writer for writer, _ in found} == {WRITER}
    assert faults == []


def test_what_is_recorded_meanwhile_is_not_read(store: Store) -> None:
    """One view of one moment; the chains end where they ended then."""
    database, drafts = store.open(), Drafts()
    ledger = Ledger(database, WRITER)
    ledger.append(*(drafts.make() for _ in range(3)))
    rows = FollowedRows(database, StatesInMemory())
    bodies = []
    for row in rows:
        bodies.append(json.loads(row.body))
        Ledger(store.open(), OTHER).append(drafts.make())
    assert len(bodies) == 3
    assert rows.faults == []
