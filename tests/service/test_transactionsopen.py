"""Transactions opened by a program that is not their host: what it can reach, and by whose authority.

Each control comes in threes: it holds, what is allowed goes through, and without it the attack succeeds.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.decide.documentstore import Commit, CommitRecord, Snapshot
from consentry.decide.statechange import EntityName
from consentry.decide.txattempt import Attempt
from consentry.service.approvals import Desk
from consentry.service.modulehost import ModuleHost
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings
from consentry.service.transactionplace import TxPlace
from consentry.service.transactions import Transactions
from consentry.service.transactionsopen import looked_at, transactions_for
from consentry.store.database import Database
from consentry.store.documents import StoredDocument
from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase
from consentry.store.transactions import StoredTransactions
from tests.cli.conftest import CommandLine
from tests.cli.txplaces import adding, asked, ready, say, writing_host


class Forgetful:
    """A host's own store: it commits, loses the answer on its way, and cannot be asked until it is back."""

    def __init__(self, database: Database) -> None:
        clock = SystemClock()
        self._inner = StoredDocument(database, clock, Uuid7Ids(clock), "note-board")
        self.document_id = "note-board"
        self.is_back = False

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """As it is."""
        return self._inner.read(names)

    def commit(self, commit: Commit, check: Callable[[], None]) -> CommitRecord:
        """Done, and nobody hears of it."""
        self._inner.commit(commit, check)
        raise OSError("the answer was lost")

    def settle(self, commit: Commit) -> CommitRecord | None:
        """What its log says, once it is back."""
        if not self.is_back:
            raise OSError("no route to the store")
        return self._inner.settle(commit)


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    """A home and a project of their own."""
    (tmp_path / "home").mkdir()
    (tmp_path / "project/.git").mkdir(parents=True)
    environ = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    return CommandLine(tmp_path / "project", environ)


@pytest.fixture
def desk(line: CommandLine) -> Iterator[Desk]:
    """The desk of another program on the same ledger."""
    clock = SystemClock()
    around = Surroundings(line.environ, line.cwd, os.geteuid())
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        yield Desk(journal)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Forgetful]:
    """A store that is no part of the ledger."""
    database = SqliteDatabase(tmp_path / "own.db")
    migrate(database)
    with closing(database):
        yield Forgetful(database)


def attempt_of(desk: Desk, tx_id: str) -> Attempt:
    """As it stands."""
    return StoredTransactions(desk.journal).required(tx_id)


def unwatched(desk: Desk, tx_id: str) -> Transactions:
    """The same transactions with both controls taken away: any document, on nobody's authority."""
    attempt, journal = attempt_of(desk, tx_id), desk.journal
    document = StoredDocument(journal.database, journal.clock, journal.ids, attempt.document_id)
    return Transactions(TxPlace(journal, document), desk)


def lost(line: CommandLine, own: Forgetful) -> str:
    """A change that is in the host's document, of which nobody has heard yet."""
    with writing_host(line, document=own) as application:
        attempt = application.change(adding(), "Add a note")
        assert attempt.state == "RECOVERY_PENDING"
        return attempt.tx_id


def test_a_document_of_the_host_is_not_settled_by_others(
    line: CommandLine, desk: Desk, own: Forgetful
) -> None:
    """CONTRACTS §3-recovery: refused before its log is asked, and looking changes nothing."""
    tx_id = lost(line, own)
    for _ in range(2):
        with pytest.raises(Refused) as refused:
            transactions_for(attempt_of(desk, tx_id), desk)
        assert refused.value.code is Code.TX_ELSEWHERE
        assert looked_at(attempt_of(desk, tx_id), desk).state == "RECOVERY_PENDING"


def test_its_host_settles_it_once_its_store_is_back(
    line: CommandLine, desk: Desk, own: Forgetful
) -> None:
    """CONTRACTS §3-recovery: its log has the commit, so it was applied."""
    tx_id = lost(line, own)
    own.is_back = True
    with writing_host(line, document=own) as application:
        assert application.transactions.look(tx_id).state == "APPLIED"
    assert attempt_of(desk, tx_id).state == "APPLIED"


def test_without_the_control_a_change_that_is_there_is_called_undone(
    line: CommandLine, desk: Desk, own: Forgetful
) -> None:
    """The store of the ledger knows nothing of that key, and says so: `APPROVED`, although it is applied."""
    tx_id = lost(line, own)
    assert unwatched(desk, tx_id).look(tx_id).state == "APPROVED"
    assert own.read().entities


def approved(application: ModuleHost, **how: Any) -> str:
    """A module's change that a person said yes to."""
    ready(application, **how)
    tx_id = asked(application)
    say(application, tx_id)
    return tx_id


def test_a_grant_for_a_session_is_over_with_it(line: CommandLine, desk: Desk) -> None:
    """MODULES §decision-1: whoever applies it later acts on no authority, and nothing is written."""
    with writing_host(line) as application:
        tx_id = approved(application, decision="approve_session")
    after = transactions_for(attempt_of(desk, tx_id), desk).apply(tx_id)
    assert after.state == "FAILED_PRE_APPLY"
    assert after.error is not None
    assert after.error.capability_id == "state.write.tx"


def test_while_the_session_goes_on_its_grant_counts(line: CommandLine, desk: Desk) -> None:
    """CONTRACTS §3-apply: the use is on record under that grant, by whoever carried it out."""
    with writing_host(line) as application:
        tx_id = approved(application, decision="approve_session")
        after = transactions_for(attempt_of(desk, tx_id), desk).apply(tx_id)
        assert after.state == "APPLIED"
        assert application.state() == {"notes": {"n1": adding()[0]["value"]}}


def test_without_the_watch_it_is_written_all_the_same(line: CommandLine, desk: Desk) -> None:
    """The control is the watch in the session that asked, and nothing else holds it off."""
    with writing_host(line) as application:
        tx_id = approved(application, decision="approve_session")
    assert unwatched(desk, tx_id).apply(tx_id).state == "APPLIED"


def test_a_host_that_nobody_knows_any_more_allows_nothing(line: CommandLine, desk: Desk) -> None:
    """What its commands may change is its description; without one nobody can say."""
    with writing_host(line) as application:
        tx_id = approved(application)
    with desk.journal.database.writing() as transaction:
        transaction.run("DELETE FROM module")
        transaction.run("DELETE FROM module_host")
    with pytest.raises(UsageProblem) as unknown:
        transactions_for(attempt_of(desk, tx_id), desk)
    assert unknown.value.code is Code.HOST_UNKNOWN
    assert attempt_of(desk, tx_id).state == "APPROVED"


def test_a_persons_own_change_needs_no_module(line: CommandLine, desk: Desk) -> None:
    """CONTRACTS §3-rollback: it is taken back from here, by the person who types that."""
    with writing_host(line) as application:
        tx_id = application.change(adding(), "Add a note").tx_id
    after = transactions_for(attempt_of(desk, tx_id), desk).roll_back(tx_id)
    assert after.state == "ROLLED_BACK"
