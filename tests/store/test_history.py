"""The reading side: what was recorded is listed, found and verified, on either database."""

import json
from pathlib import Path

import pytest

from consentry.base.errors import LedgerProblem
from consentry.store.history import ChainPart, EventFilter, History
from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.sqlite import Access, SqliteDatabase
from tests.record.samples import WRITER, Drafts

OTHER = "machine-" + "2" * 32
WITH_NUL = ["a\0b", "\\u0000", "\\\0", "\\\\\0\0x", "\\\\u0000", '"\0"']


def test_text_with_a_nul_is_recorded_as_it_is(ledger: Ledger) -> None:
    """A name from outside may have one, and a backslash before it, and still be found by its id."""
    drafts = Drafts()
    events = ledger.append(*(drafts.make(x=text) for text in WITH_NUL))
    assert [json.loads(row.body)["payload"]["x"] for row in ledger.history.events()] == WITH_NUL
    assert [ledger.history.find(e.draft.event_id) is not None for e in events] == [True] * 6
    assert isinstance(ledger.history.verify(), list)


def test_the_latest_are_the_end_of_the_list(ledger: Ledger) -> None:
    """Oldest first, narrowed before they are counted."""
    drafts, history = Drafts(), ledger.history
    ledger.append(*(drafts.make(f"tool:{n % 2}", decision=f"d{n % 3}") for n in range(9)))
    everything = list(history.events())
    assert history.latest(EventFilter(), 4) == everything[-4:]
    assert history.latest(EventFilter(), 100) == everything
    odd = [row for row in everything if json.loads(row.body)["subject"] == "tool:1"]
    assert history.latest(EventFilter(subject="tool:1"), 2) == odd[-2:]
    denied = [row for row in everything if json.loads(row.body)["payload"]["decision"] == "d1"]
    assert history.latest(EventFilter(decision="d1"), 100) == denied


def test_what_came_behind_an_event_is_asked_writer_by_writer(ledger: Ledger) -> None:
    """A follower remembers how far it has read each chain."""
    drafts, history = Drafts(), ledger.history
    ledger.append(*(drafts.make() for _ in range(3)))
    other = Ledger(ledger.database, OTHER)
    other.append(drafts.make())
    assert [row.seq for row in history.part(WRITER, 1, 9, EventFilter()).rows] == [2, 3]
    assert [row.seq for row in history.part(WRITER, 1, 2, EventFilter()).rows] == [2]
    assert [row.writer for row in history.part(OTHER, 0, 9, EventFilter()).rows] == [OTHER]
    assert history.part(WRITER, 3, 9, EventFilter()) == ChainPart([], [])
    assert history.part(WRITER, 0, 9, EventFilter(subject="tool:none")).rows == []
    assert {head.writer: head.seq for head in history.heads()} == {WRITER: 3, OTHER: 1}


def test_two_writers_are_verified_together_and_a_fault_of_one_is_named(ledger: Ledger) -> None:
    """Chains lie mixed in the table; each is followed by itself."""
    drafts, other = Drafts(), Ledger(ledger.database, OTHER)
    for _ in range(3):
        ledger.append(drafts.make())
        other.append(drafts.make())
    heads = ledger.history.verify()
    assert isinstance(heads, list)
    assert [(head.writer, head.seq) for head in heads] == [(WRITER, 3), (OTHER, 3)]
    with ledger.database.writing() as transaction:
        transaction.run("DELETE FROM ledger_event WHERE writer = ? AND seq = 2", (OTHER,))
    fault = ledger.history.verify()
    assert not isinstance(fault, list)
    assert (fault.writer, fault.seq, fault.why) == (OTHER, 2, "is missing")


def test_reading_needs_no_right_to_write_and_makes_nothing(tmp_path: Path) -> None:
    """No table and no file, but for the two that SQLite's readers and writers share."""
    path = tmp_path / "ledger.db"
    database = SqliteDatabase(path)
    migrate(database)
    Ledger(database, WRITER).append(Drafts().make())
    database.close()
    files = {each.name for each in tmp_path.iterdir()}
    reader = History(SqliteDatabase(path, Access.READ))
    assert len(list(reader.events())) == 1
    with pytest.raises(LedgerProblem), reader.database.reading() as view:
        view.run("DELETE FROM ledger_event")
    reader.database.close()
    shared = {"ledger.db-shm", "ledger.db-wal"}
    assert {each.name for each in tmp_path.iterdir()} - shared == files
    with pytest.raises(LedgerProblem):
        SqliteDatabase(tmp_path / "missing.db", Access.READ)
    assert not (tmp_path / "missing.db").exists()


def test_an_older_shape_is_refused_by_name_where_it_is_only_read(tmp_path: Path) -> None:
    """It would have to be changed to be read."""
    database = SqliteDatabase(tmp_path / "ledger.db")
    migrate(database, to=1)
    with pytest.raises(LedgerProblem) as caught:
        History(database).require_known_shape()
    assert caught.value.code == "ledger-older"
    database.close()
