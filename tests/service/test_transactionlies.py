"""A document store that is not to be believed: it lies about its commits, or says nothing for too long.

The same transactions on stores that do as they must are in `test_transactionmodel`.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any, Final

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.base.units import Duration
from consentry.decide.documentstore import BeforeWrite, Commit, CommitKind, CommitRecord, Snapshot
from consentry.decide.identity import Role
from consentry.decide.statechange import EntityName
from consentry.decide.txattempt import Attempt
from consentry.service import transactionapply, transactionrecovery
from consentry.service.transactionapply import Applying
from consentry.store.database import Database
from consentry.store.documents import StoredDocument
from consentry.store.transactions import StoredTransactions
from tests.decide.samples import NOW, OWNER
from tests.record.samples import WRITER
from tests.service.moduleprograms import planted
from tests.service.transactionboard import DOCUMENT, TERMS
from tests.service.transactionprograms import Program
from tests.service.transactionstrokes import Failing, StoreFailed
from tests.service.transactionwitness import Witness
from tests.store.conftest import Store

PAST_THE_LIMIT: Final = Duration(TERMS.recovery.milliseconds + 1)


class Desk:
    """A program, its store, and a clock."""

    def __init__(self, store: Store, database: Database) -> None:
        self.clock = ManualClock(NOW)
        self.living: set[Any] = set()
        self.store, self.database = store, database
        self.document = Doubtful(
            StoredDocument(database, self.clock, Uuid7Ids(self.clock), DOCUMENT)
        )
        self.program = self.opened(self.document)
        self.witness = Witness(database, database)

    def opened(self, document: Any) -> Program:
        """Another program on the same ledger."""
        given = (self.database, self.database, WRITER, self.clock, self.living)
        return Program(*given, document=document)

    def approved(self, program: Program | None = None) -> Attempt:
        """A change that can be applied."""
        number = int(self.clock.now().unix_ms)
        self.clock.advance(Duration(1))
        operations = [{"op": "add", "path": f"/notes/n{number}", "value": number}]
        return (program or self.program).propose(None, False, operations)

    def state(self, attempt: Attempt) -> str:
        """Where it stands on record, without looking into it."""
        return str(self.program.transactions.place.stored.required(attempt.tx_id).state)

    def whole(self) -> None:
        """Everything is as it must be."""
        self.witness.look()
        self.witness.require_whole()


class Doubtful:
    """The store of the product, whose log can be made to say something else, or nothing."""

    def __init__(self, inner: StoredDocument) -> None:
        self.inner = inner
        self.says: Callable[[Commit], CommitRecord | None] | None = None
        self.reads_left: int | None = None

    @property
    def document_id(self) -> str:
        """Its name."""
        return self.inner.document_id

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """As it is; once so many reads are over, it cannot be reached for one."""
        if self.reads_left is not None:
            self.reads_left = None if self.reads_left == 0 else self.reads_left - 1
            if self.reads_left is None:
                raise StoreFailed("the document cannot be read")
        return self.inner.read(names)

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """As it is."""
        return self.inner.commit(commit, check)

    def settle(self, commit: Commit) -> CommitRecord | None:
        """What it is made to say."""
        return self.says(commit) if self.says else self.inner.settle(commit)


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """One of each."""
    with closing(store.open()) as database:
        yield Desk(store, database)


def nothing_to_say(_: Commit) -> CommitRecord | None:
    """It cannot be reached."""
    raise StoreFailed("the log cannot be reached")


def never_heard_of(_: Commit) -> CommitRecord | None:
    """Whatever is in the document, its key is not in the log."""
    return None


def all_done(commit: Commit) -> CommitRecord | None:
    """Whatever is in the document, the log has it."""
    return CommitRecord(commit.key, commit.kind, "commit-none", commit.revision)


def strike(desk: Desk, how: str) -> None:
    """The next commit of the program fails so."""
    desk.program.stroke = Failing(0, how, desk.clock)


def test_a_yes_without_a_write_is_not_believed(desk: Desk) -> None:
    """CONTRACTS §3-recovery: nothing is in the log, so it is `APPROVED`, and can be applied again."""
    attempt = desk.approved()
    strike(desk, "yes")
    assert desk.program.transactions.apply(attempt.tx_id).state == "APPROVED"
    desk.whole()
    assert desk.program.transactions.apply(attempt.tx_id).state == "APPLIED"
    desk.whole()


def test_a_yes_that_is_believed_would_be_an_apply_of_nothing(desk: Desk) -> None:
    """CONTRACTS §3-recovery: without reading back what was written."""
    attempt = desk.approved()
    strike(desk, "yes")
    with planted({(transactionapply, "has_taken_effect"): lambda *_: True}):
        assert desk.program.transactions.apply(attempt.tx_id).state == "APPLIED"
    with pytest.raises(AssertionError):
        desk.whole()


def test_a_no_with_a_write_is_not_believed(desk: Desk) -> None:
    """CONTRACTS §3-recovery: the commit is in the log, so it is `APPLIED`, and not done again."""
    attempt = desk.approved()
    strike(desk, "no")
    assert desk.program.transactions.apply(attempt.tx_id).state == "APPLIED"
    desk.whole()
    assert "RECOVERY_PENDING" in desk.witness.counts


def test_a_no_that_is_believed_would_be_a_change_without_an_apply(desk: Desk) -> None:
    """CONTRACTS §3-recovery: without looking whether it is there all the same."""
    attempt = desk.approved()
    strike(desk, "no")
    with planted({(Applying, "_may_be_there"): lambda *_: False}):
        assert desk.program.transactions.apply(attempt.tx_id).state == "FAILED_PRE_APPLY"
    with pytest.raises(AssertionError):
        desk.whole()


@pytest.mark.parametrize(("how", "state"), [("yes", "APPLIED"), ("no", "ROLLED_BACK")])
def test_of_a_rollback_it_is_the_same(desk: Desk, how: str, state: str) -> None:
    """CONTRACTS §3-rollback, §3-recovery: what is in the log counts, whatever was said."""
    attempt = desk.approved()
    desk.program.transactions.apply(attempt.tx_id)
    strike(desk, how)
    assert desk.program.transactions.roll_back(attempt.tx_id).state == state
    desk.whole()


@pytest.mark.parametrize(
    ("how", "says"),
    [("before", all_done), ("after", never_heard_of), ("after", nothing_to_say)],
    ids=["log without document", "document without log", "no log"],
)
def test_a_log_that_contradicts_its_document_settles_nothing(
    desk: Desk, how: str, says: Callable[[Commit], CommitRecord | None]
) -> None:
    """CONTRACTS §3-recovery, §3-terminal-block: held, then over, and nothing is applied but elsewhere.

    Until an operator resolved it; the attempt stays what it is.
    """
    attempt, other = desk.approved(), desk.approved()
    elsewhere = desk.opened("another-document")
    desk.document.says = says
    strike(desk, how)
    transactions = desk.program.transactions
    assert transactions.apply(attempt.tx_id).state == "RECOVERY_PENDING"
    with pytest.raises(ConsentryError) as unsettled:
        transactions.apply(attempt.tx_id)
    assert unsettled.value.code == "tx-unsettled"
    desk.clock.advance(PAST_THE_LIMIT)
    assert transactions.look(attempt.tx_id).state == "FAILED_TERMINAL"
    other = desk.approved()
    with pytest.raises(ConsentryError) as blocked:
        transactions.apply(other.tx_id)
    assert blocked.value.code == "tx-blocked"
    assert desk.state(other) == "APPROVED"
    free = desk.approved(elsewhere)
    assert elsewhere.transactions.apply(free.tx_id).state == "APPLIED"
    desk.document.says = None
    transactions.resolve(attempt.tx_id, OWNER, Role.OWNER, "looked at the document")
    again = desk.approved()
    assert transactions.apply(again.tx_id).state == "APPLIED"
    assert desk.state(attempt) == "FAILED_TERMINAL"
    desk.witness.look()
    assert desk.witness.counts["transaction.resolved"] == 1


def test_without_the_block_it_would_go_on(desk: Desk) -> None:
    """CONTRACTS §3-terminal-block: a document that nobody looked at takes the next change."""
    attempt = desk.approved()
    desk.document.says = nothing_to_say
    strike(desk, "before")
    desk.program.transactions.apply(attempt.tx_id)
    desk.clock.advance(PAST_THE_LIMIT)
    assert desk.program.transactions.look(attempt.tx_id).state == "FAILED_TERMINAL"
    desk.document.says = None
    other = desk.approved()
    with planted({(StoredTransactions, "_require_free"): lambda *_: None}):
        assert desk.program.transactions.apply(other.tx_id).state == "APPLIED"
    with pytest.raises(AssertionError, match="blocked"):
        desk.witness.look()


@pytest.mark.parametrize("how", ["before", "after"])
def test_a_store_that_comes_back_in_time_settles_it(desk: Desk, how: str) -> None:
    """CONTRACTS §3-recovery: whoever looks at it next finds what became of it."""
    attempt = desk.approved()
    desk.document.says = nothing_to_say
    strike(desk, how)
    assert desk.program.transactions.apply(attempt.tx_id).state == "RECOVERY_PENDING"
    desk.document.says = None
    looked = desk.opened(desk.document).transactions.look(attempt.tx_id)
    assert looked.state == ("APPLIED" if how == "after" else "APPROVED")
    desk.whole()


@pytest.mark.parametrize("reads", [1, 2, 3])
def test_a_document_that_cannot_be_read_in_a_rollback_is_not_left_in_the_middle(
    desk: Desk, reads: int
) -> None:
    """CONTRACTS §3-rollback, §3-recovery: before the commit it stays `APPLIED`, behind it it is rolled back."""
    attempt = desk.approved()
    transactions = desk.program.transactions
    transactions.apply(attempt.tx_id)
    desk.document.reads_left = reads
    after = transactions.roll_back(attempt.tx_id)
    assert desk.document.reads_left is None
    assert after.state == ("APPLIED" if reads < 3 else "ROLLED_BACK")
    desk.whole()
    assert transactions.roll_back(attempt.tx_id).state == "ROLLED_BACK"
    desk.whole()


def test_a_log_that_says_a_rollback_of_another_document_is_not_believed(desk: Desk) -> None:
    """CONTRACTS §3-recovery: a record of another kind, or for another revision, is none."""
    attempt = desk.approved()
    strike(desk, "after")
    desk.document.says = lambda commit: CommitRecord(
        commit.key, CommitKind.ROLLBACK, "commit-none", "elsewhere"
    )
    assert desk.program.transactions.apply(attempt.tx_id).state == "RECOVERY_PENDING"
    with planted({(transactionrecovery, "has_taken_effect"): lambda *_: True}):
        assert desk.program.transactions.look(attempt.tx_id).commit_id == "commit-none"
