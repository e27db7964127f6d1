# ruff: noqa: S608 - the statements are the tests' own
"""The list of archived events is held to its records: every single change of it is found and named."""

from dataclasses import replace

import pytest

from consentry.record.chain import ChainFault
from consentry.store.archivecheck import recorded_archive, recorded_archives
from consentry.store.ledger import Ledger
from tests.record.payloads import sample_id
from tests.record.samples import WRITER, Drafts
from tests.store.archiving import OTHER, all_before, record_draft, record_of, taken_out
from tests.store.conftest import Store

HASH = "sha256:" + "0" * 64
FIRST, SECOND = sample_id("archive", 1), sample_id("archive", 2)
ID_OF_8 = "(SELECT event_id FROM ledger_event WHERE seq = 8)"


def listed(seq: int, archive: str) -> str:
    """The statement that lists a live event as archived."""
    return (
        "INSERT INTO archived_event (writer, seq, hash, event_id, archive_id) "
        f"SELECT writer, seq, hash, event_id, '{archive}' FROM ledger_event WHERE seq = {seq}"
    )


@pytest.fixture
def archived(store: Store) -> Ledger:
    """Events 1 to 4 in one archive, 5 to 7 in another, 8 and 9 live, 10 and 11 the records."""
    ledger, drafts = Ledger(store.open(), WRITER), Drafts()
    ledger.append(*(drafts.make(n=number) for number in range(9)))
    for number, before in enumerate((5, 8), 1):
        record = record_of(ledger.database, all_before(before), number)
        taken_out(ledger, drafts, all_before(before), record)
    assert isinstance(ledger.history.verify(), list)
    return ledger


def tampered(ledger: Ledger, *statements: str) -> ChainFault:
    """Changes the database behind the ledger's back; that it is found is asserted."""
    with ledger.database.writing() as transaction:
        for statement in statements:
            transaction.run(statement)
    found = ledger.history.verify()
    assert isinstance(found, ChainFault)
    return found


def test_the_records_are_read_back(archived: Ledger) -> None:
    """One by its id, and all of them."""
    with archived.database.reading() as view:
        both = [record for _, record in recorded_archives(view)]
        second = recorded_archive(view, SECOND)
        assert recorded_archive(view, sample_id("archive", 3)) is None
    assert [record.archive_id for record in both if record is not None] == [FIRST, SECOND]
    assert second == both[1]
    assert second is not None
    assert (second.events, second.parts[0].first_seq, second.parts[0].last_seq) == (3, 5, 7)


@pytest.mark.parametrize(
    ("statement", "seq", "why"),
    [
        # A hash that the event behind it names is known to be the wrong one.
        (f"UPDATE archived_event SET hash = '{HASH}' WHERE seq = 7", 7, "is not the hash"),
        # Between two archived events only the root tells, and names where its part begins.
        (f"UPDATE archived_event SET hash = '{HASH}' WHERE seq = 6", 5, "up to event 7, is not"),
        (f"UPDATE archived_event SET hash = '{HASH}' WHERE seq = 1", 1, "up to event 4, is not"),
        ("UPDATE archived_event SET hash = 'none' WHERE seq = 3", 3, "is not the hash"),
        ("DELETE FROM archived_event WHERE seq = 3", 3, "is missing"),
        ("DELETE FROM archived_event", 1, "is missing"),
        ("UPDATE archived_event SET seq = 40 WHERE seq = 3", 3, "is missing"),
        (f"UPDATE archived_event SET writer = '{OTHER}' WHERE seq = 3", 3, "is missing"),
        (f"UPDATE archived_event SET archive_id = '{FIRST}' WHERE seq = 5", 5, "without a record"),
        (f"UPDATE archived_event SET archive_id = '{SECOND}' WHERE seq = 4", 1, "not in the list"),
        ("UPDATE archived_event SET archive_id = 'archive-x'", 1, "without a record"),
        (listed(8, SECOND), 8, "repeated or moved"),
        (
            f"UPDATE archived_event SET event_id = {ID_OF_8} WHERE seq = 2",
            1,
            "up to event 4, is not",
        ),
        (
            "UPDATE archived_event SET event_id = 'event-x' WHERE seq = 6",
            5,
            "up to event 7, is not",
        ),
    ],
)
def test_a_changed_list_is_found_and_named(
    archived: Ledger, statement: str, seq: int, why: str
) -> None:
    """A changed, dropped, moved or added row."""
    found = tampered(archived, statement)
    assert (found.seq, why in found.why) == (seq, True), found


@pytest.mark.parametrize("archive", [FIRST, SECOND, "archive-x"])
def test_an_event_that_is_only_said_to_be_archived_is_found(archived: Ledger, archive: str) -> None:
    """Taken out of the ledger with its hash left behind, as a real archive would do it."""
    found = tampered(
        archived,
        listed(8, archive),
        "DELETE FROM ledger_event WHERE seq = 8",
    )
    assert (found.seq, found.why) == (8, "was taken out without a record")


def test_a_record_that_is_archived_away_is_missed(archived: Ledger) -> None:
    """What it recorded is then without a record, and so is it."""
    found = tampered(
        archived,
        listed(10, SECOND),
        "DELETE FROM ledger_event WHERE seq = 10",
    )
    assert (found.seq, found.why) == (1, "was taken out without a record")


def test_archived_events_put_back_are_found(store: Store) -> None:
    """The chain is whole, but the ledger says that they left it."""
    ledger, drafts = Ledger(store.open(), WRITER), Drafts()
    events = ledger.append(*(drafts.make(n=number) for number in range(4)))
    taken_out(ledger, drafts, all_before(4))
    with ledger.database.writing() as transaction:
        transaction.run("DELETE FROM archived_event WHERE seq = 2")
        transaction.run(
            "INSERT INTO ledger_event (writer, seq, hash, body) VALUES (?, ?, ?, ?)",
            (events[1].writer, 2, events[1].hash, events[1].body.decode()),
        )
    found = ledger.history.verify()
    assert isinstance(found, ChainFault)
    assert (found.seq, "not in the list" in found.why) == (1, True)
    with ledger.database.writing() as transaction:
        transaction.run("DELETE FROM archived_event")
        transaction.run_many(
            "INSERT INTO ledger_event (writer, seq, hash, body) VALUES (?, ?, ?, ?)",
            [(each.writer, each.seq, each.hash, each.body.decode()) for each in events[:3:2]],
        )
    found = ledger.history.verify()
    assert isinstance(found, ChainFault)
    assert (found.seq, "not in the list" in found.why) == (1, True)


def test_a_record_of_nothing_that_left_or_a_second_record_is_found(archived: Ledger) -> None:
    """A program cannot say twice what was archived, nor say it of what was not."""
    drafts = Drafts()
    for _ in range(100):
        drafts.make()
    with archived.database.reading() as view:
        first = recorded_archive(view, FIRST)
    assert first is not None
    archived.append(record_draft(drafts, replace(first, archive_id=sample_id("archive", 3))))
    found = archived.history.verify()
    assert isinstance(found, ChainFault)
    assert (found.seq, "not in the list" in found.why) == (1, True)
    archived.append(record_draft(drafts, first))
    found = archived.history.verify()
    assert isinstance(found, ChainFault)
    assert (found.seq, "says it twice" in found.why) == (13, True)


def test_an_id_used_again_after_its_event_was_archived_is_found(archived: Ledger) -> None:
    """Appending does not look into the archives; verifying does."""
    archived.append(Drafts().make())
    found = archived.history.verify()
    assert isinstance(found, ChainFault)
    assert (found.seq, found.why) == (12, "has the id of an event that was archived")


def test_any_single_change_of_the_list_is_found(archived: Ledger) -> None:
    """Whatever is put into whichever column that binds an event to its place."""
    database, columns = archived.database, ("writer", "seq", "hash", "archive_id")
    with database.reading() as view:
        rows = list(view.rows(f"SELECT {', '.join(columns)}, event_id FROM archived_event"))
    values = {
        "writer": (OTHER, "", "machine-"),
        "seq": (0, 8, 40, -1),
        "hash": (HASH, "", *(row[2] for row in rows)),
        "archive_id": (FIRST, SECOND, "", "archive-"),
    }
    changes = [
        (row, [*row[:place], value, *row[place + 1 :]])
        for row in rows
        for place, column in enumerate(columns)
        for value in values[column]
        if value != row[place]
    ]
    put = (
        "UPDATE archived_event SET writer = ?, seq = ?, hash = ?, archive_id = ? WHERE event_id = ?"
    )
    for before, after in changes:
        with database.writing() as transaction:
            assert transaction.run(put, after) == 1
        assert isinstance(archived.history.verify(), ChainFault), (before, after)
        with database.writing() as transaction:
            transaction.run(put, before)
    assert isinstance(archived.history.verify(), list)
