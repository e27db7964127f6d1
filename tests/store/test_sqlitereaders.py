"""Connections for queries are kept between them, and none of them says what is not in the file now."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.store.ledger import Ledger
from tests.store.ledgers import fresh_drafts, open_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger with one event, whose connection for queries is kept."""
    with closing(open_ledger(tmp_path / "ledger.db")) as opened:
        opened.append(fresh_drafts().make())
        assert count(opened) == 1
        yield opened


def count(ledger: Ledger) -> int:
    """How many events there are."""
    with ledger.database.reading() as view:
        [[found]] = view.rows("SELECT count(*) FROM ledger_event")
    assert isinstance(found, int)
    return found


def test_a_kept_connection_sees_what_others_wrote(ledger: Ledger, tmp_path: Path) -> None:
    """Each view is a new one."""
    with closing(open_ledger(tmp_path / "ledger.db")) as other:
        drafts = fresh_drafts()
        for expected in range(2, 6):
            other.append(drafts.make())
            assert count(ledger) == expected


def test_an_answer_that_was_not_read_to_its_end_holds_no_view(ledger: Ledger) -> None:
    """Whoever comes next sees the present, and nobody's log is kept from being emptied."""
    drafts = fresh_drafts()
    ledger.append(drafts.make())
    with ledger.database.reading() as view:
        left = iter(view.rows("SELECT seq FROM ledger_event ORDER BY seq"))
        assert next(left)[0] == 1
    ledger.append(drafts.make())
    assert count(ledger) == 3
    with pytest.raises(sqlite3.ProgrammingError):
        next(left)


def test_a_view_with_many_answers_ends_as_well(ledger: Ledger) -> None:
    """More than are kept account of."""
    with ledger.database.reading() as view:
        answers = [iter(view.rows("SELECT seq FROM ledger_event")) for _ in range(100)]
        assert [next(each)[0] for each in answers] == [1] * 100
    ledger.append(fresh_drafts().make())
    assert count(ledger) == 2


def test_a_view_that_failed_leaves_no_transaction(ledger: Ledger) -> None:
    """The next one works, and is not of the past."""
    with pytest.raises(LedgerProblem), ledger.database.reading() as view:
        list(view.rows("SELECT nothing FROM nowhere"))
    ledger.append(fresh_drafts().make())
    assert count(ledger) == 2


def test_a_file_that_was_replaced_is_read_anew(ledger: Ledger, tmp_path: Path) -> None:
    """A kept connection is of the file that had the name."""
    with closing(open_ledger(tmp_path / "other.db")) as other:
        drafts = fresh_drafts()
        other.append(drafts.make(), drafts.make(), drafts.make())
    (tmp_path / "other.db").replace(tmp_path / "ledger.db")
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"ledger.db{suffix}").unlink(missing_ok=True)
    assert count(ledger) == 3


def test_what_was_damaged_on_the_disk_is_found_out(ledger: Ledger, tmp_path: Path) -> None:
    """Pages that were read are not answered from memory."""
    ledger.database.put_into_one_file()  # type: ignore[attr-defined]
    assert count(ledger) == 1
    path = tmp_path / "ledger.db"
    whole = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (len(whole) - 4096))
    with pytest.raises(LedgerProblem) as problem:
        count(ledger)
    assert problem.value.code is Code.LEDGER_CORRUPT
    with path.open("r+b") as file:
        file.write(whole)


def test_a_forked_child_reads_through_a_connection_of_its_own(ledger: Ledger) -> None:
    """And the parent's goes on to work."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if count(ledger) == 1 else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    ledger.append(fresh_drafts().make())
    assert count(ledger) == 2


def test_the_log_is_emptied_when_the_ledger_is_closed(tmp_path: Path) -> None:
    """Kept connections are let go of first: the writer is the last one."""
    path = tmp_path / "ledger.db"
    ledger = open_ledger(path)
    ledger.append(fresh_drafts().make())
    count(ledger)
    ledger.close()
    assert not path.with_name("ledger.db-wal").exists()
