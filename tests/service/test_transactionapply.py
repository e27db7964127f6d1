"""Applying once and all of it, and taking it back from its own journal; on both databases (CONTRACTS §3)."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from consentry.base.errors import ConsentryError, LedgerProblem, Refused, UsageProblem
from consentry.service.transactionplace import TxTerms
from tests.service.carelessstores import Lying, OwnStore
from tests.service.txground import HELLO, RULE, Ground
from tests.store.conftest import Store

pytestmark = pytest.mark.timeout(120)

OTHER = {"op": "add", "path": "/notes/n2", "value": {"deep": [1, 2]}}
LAST = {"op": "add", "path": "/notes/n3", "value": None}


@pytest.fixture
def ground(store: Store) -> Ground:
    """One program."""
    return Ground(store)


# Once.


def test_an_apply_is_all_of_it(ground: Ground) -> None:
    """CONTRACTS §3-apply: every entity, the revision that was shown, and the commit on record."""
    before = ground.document.read().revision
    attempt = ground.applied(HELLO, OTHER, LAST)
    assert attempt.state == "APPLIED"
    assert ground.entities == {
        "/notes/n1": "hello",
        "/notes/n2": {"deep": [1, 2]},
        "/notes/n3": None,
    }
    assert ground.document.read().revision == attempt.candidate_revision != before
    applied = ground.steps()[-1]
    assert (applied["nextState"], applied["commitId"]) == ("APPLIED", attempt.commit_id)
    assert applied["idempotencyKey"] == attempt.apply_key


def test_the_same_key_applies_once(ground: Ground) -> None:
    """CONTRACTS §3-apply: a key that was committed before is answered with how that ended."""
    attempt = ground.proposed()
    apply = ground.transactions.apply
    first = apply(attempt.tx_id, "mine")
    ground.applied(OTHER)
    assert apply(attempt.tx_id, "mine") == first
    assert ground.way(attempt.tx_id).count("APPLIED") == 1
    assert ground.entities == {"/notes/n1": "hello", "/notes/n2": {"deep": [1, 2]}}


def test_another_key_applies_nothing_again(ground: Ground) -> None:
    """CONTRACTS §3-apply: what is applied is applied, whichever key comes."""
    attempt = ground.applied()
    with pytest.raises(Refused, match="has to be `APPROVED`"):
        ground.transactions.apply(attempt.tx_id, "another")


def test_a_key_belongs_to_one_transaction(ground: Ground) -> None:
    """CONTRACTS §3-apply: a second one under it is refused, and stays approved."""
    ground.transactions.apply(ground.proposed().tx_id, "shared")
    second = ground.proposed(OTHER)
    with pytest.raises(UsageProblem, match="the key `shared` belongs to"):
        ground.transactions.apply(second.tx_id, "shared")
    assert ground.kept(second).state == "APPROVED"
    assert ground.transactions.apply(second.tx_id, "own").state == "APPLIED"


def test_a_key_that_failed_before_a_commit_is_free_again(ground: Ground) -> None:
    """CONTRACTS §3-apply: for the next attempt, and for whoever comes."""
    first = ground.proposed()
    ground.applied(OTHER)
    assert ground.transactions.apply(first.tx_id, "mine").state == "FAILED_PRE_APPLY"
    ground.transactions.preview_again(first.tx_id)
    again = ground.transactions.apply(first.tx_id, "mine")
    assert (again.state, again.attempt_no, again.apply_key) == ("APPLIED", 2, "mine")


@pytest.mark.parametrize("key", ["", "x" * 201, "line\nbreak", "nul\0", "\u202eabc"])
def test_a_key_is_short_and_printable(ground: Ground, key: str) -> None:
    """CONTRACTS §3-apply: it is shown and kept; an empty one is no key of the caller's."""
    attempt = ground.proposed()
    if not key:
        assert ground.transactions.apply(attempt.tx_id, key).apply_key == f"apply-{attempt.tx_id}-1"
        return
    with pytest.raises(ConsentryError):
        ground.transactions.apply(attempt.tx_id, key)
    assert ground.kept(attempt).state == "APPROVED"


def test_programs_that_apply_at_once_apply_once(ground: Ground, store: Store) -> None:
    """CONTRACTS §3-apply: one commits; the others are told that it is under way, or how it ended."""
    attempt = ground.proposed()
    programs = [ground, *(Ground(store) for _ in range(3))]

    def apply(program: Ground) -> str:
        try:
            return program.transactions.apply(attempt.tx_id).state
        except Refused as refused:
            return refused.code.value

    with ThreadPoolExecutor(len(programs)) as pool:
        ends = list(pool.map(apply, programs))
    assert set(ends) <= {"APPLIED", "tx-in-flight"}
    assert "APPLIED" in ends
    assert ground.way(attempt.tx_id).count("APPLIED") == 1


# What stands against it.


def test_nothing_unapproved_is_applied(ground: Ground) -> None:
    """CONTRACTS §3-apply: the token is looked at, and nothing is written."""
    attempt = ground.proposed(rule=RULE)
    with pytest.raises(Refused, match="has to be `APPROVED`"):
        ground.transactions.apply(attempt.tx_id)
    assert (ground.entities, ground.way()[-1]) == ({}, "APPROVAL_PENDING")


@pytest.mark.parametrize(("late", "state"), [(599, "APPLIED"), (600, "FAILED_PRE_APPLY")])
def test_an_approval_counts_for_its_time(ground: Ground, late: int, state: str) -> None:
    """CONTRACTS §3-approval: to the second before it expires."""
    attempt = ground.answered(ground.proposed(rule=RULE))
    ground.pass_time(late)
    after = ground.transactions.apply(attempt.tx_id)
    assert after.state == state
    if state != "APPLIED":
        assert after.error is not None
        assert (after.error.code, after.error.kind) == ("tx-approval", "expired")
        assert ground.entities == {}


def test_another_revision_is_a_conflict(ground: Ground) -> None:
    """CONTRACTS §3-apply: compared in the commit itself; nothing is written."""
    attempt = ground.proposed()
    ground.applied(OTHER)
    after = ground.transactions.apply(attempt.tx_id)
    assert after.error is not None
    assert (after.state, after.error.code) == ("FAILED_PRE_APPLY", "tx-conflict")
    assert "/notes/n1" not in ground.entities


@pytest.mark.parametrize("column", ["preview", "writes"])
def test_what_was_changed_in_the_store_is_not_applied(ground: Ground, column: str) -> None:
    """CONTRACTS §3-apply: preview and journal are held against the hashes that were approved."""
    attempt = ground.proposed()
    with ground.ledger.database.writing() as transaction:
        query = "UPDATE transaction_content SET {0} = replace({0}, 'hello', 'other')"
        transaction.run(query.format(column), ())
    with pytest.raises(LedgerProblem, match="cannot be believed"):
        ground.transactions.apply(attempt.tx_id)
    assert ground.kept(attempt).state == "APPROVED"
    assert ground.entities == {}


def test_a_store_that_says_it_committed_is_read_back(store: Store, tmp_path: Path) -> None:
    """CONTRACTS §3-recovery: what it says it wrote and did not is held, and never called applied."""
    ground = Ground(store, document=Lying(tmp_path))
    after = ground.transactions.apply(ground.proposed().tx_id)
    assert after.error is not None
    assert (after.state, after.error.code) == ("RECOVERY_PENDING", "tx-store")
    with pytest.raises(Refused, match="it is not known yet"):
        ground.transactions.apply(after.tx_id)


# Taken back.


def test_a_roll_back_leaves_what_was_there(ground: Ground) -> None:
    """CONTRACTS §3-rollback: changed, added, removed: all as before, in one commit with a revision of its own."""
    ground.applied(HELLO, OTHER)
    before = ground.entities
    attempt = ground.applied(
        {"op": "replace", "path": "/notes/n1", "value": {"x": None}},
        {"op": "remove", "path": "/notes/n2"},
        LAST,
    )
    after = ground.transactions.roll_back(attempt.tx_id)
    assert (after.state, ground.entities) == ("ROLLED_BACK", before)
    assert after.commit_id != attempt.commit_id
    assert ground.document.read().revision not in (
        attempt.base_revision,
        attempt.candidate_revision,
    )


def test_only_what_is_applied_is_taken_back(ground: Ground) -> None:
    """CONTRACTS §3-rollback: from `APPLIED`, and from no other state."""
    waits, approved = ground.proposed(rule=RULE), ground.proposed()
    failed = ground.proposed({"op": "remove", "path": "/notes/n1"})
    for each in (waits, approved, failed):
        with pytest.raises(Refused, match="has to be `APPLIED`"):
            ground.transactions.roll_back(each.tx_id)


def test_it_is_taken_back_once(ground: Ground) -> None:
    """CONTRACTS §3-rollback: idempotent by its key; another key is too late."""
    attempt = ground.applied()
    first = ground.transactions.roll_back(attempt.tx_id, "undo")
    ground.applied(HELLO)
    assert ground.transactions.roll_back(attempt.tx_id, "undo") == first
    with pytest.raises(Refused, match="is `ROLLED_BACK`"):
        ground.transactions.roll_back(attempt.tx_id, "another")
    assert ground.entities == {"/notes/n1": "hello"}, "the second change of the same stays"
    assert ground.transactions.apply(attempt.tx_id).state == "ROLLED_BACK", (
        "it is not applied again"
    )


def test_what_others_changed_since_is_not_overwritten(ground: Ground) -> None:
    """CONTRACTS §3-rollback: refused, and the attempt stays applied; what lies elsewhere is no matter."""
    attempt = ground.applied()
    other = ground.applied({"op": "replace", "path": "/notes/n1", "value": "theirs"})
    with pytest.raises(Refused, match="was changed since"):
        ground.transactions.roll_back(attempt.tx_id)
    assert (ground.kept(attempt).state, ground.entities) == ("APPLIED", {"/notes/n1": "theirs"})
    ground.transactions.roll_back(other.tx_id)
    ground.applied(OTHER)
    assert ground.transactions.roll_back(attempt.tx_id).state == "ROLLED_BACK"
    assert ground.entities == {"/notes/n2": {"deep": [1, 2]}}


def test_a_journal_that_cannot_be_believed_takes_nothing_back(ground: Ground) -> None:
    """CONTRACTS §3-rollback, §3-terminal-block: never worked out anew: it is over, and blocks until somebody looked."""
    attempt = ground.applied()
    with ground.ledger.database.writing() as transaction:
        transaction.run("UPDATE transaction_content SET writes = '[]'", ())
    after = ground.transactions.roll_back(attempt.tx_id)
    assert (after.state, ground.entities) == ("FAILED_TERMINAL", {"/notes/n1": "hello"})
    assert [each.tx_id for each in ground.transactions.blocks()] == [attempt.tx_id]
    with pytest.raises(Refused, match="is blocked by"):
        ground.applied(OTHER)


def test_a_host_store_is_taken_back_the_same_way(store: Store, tmp_path: Path) -> None:
    """CONTRACTS §3-rollback: the journal is the attempt's, wherever the document lies."""
    ground = Ground(store, document=OwnStore(tmp_path), terms=TxTerms())
    attempt = ground.applied(HELLO, OTHER)
    assert ground.transactions.roll_back(attempt.tx_id).state == "ROLLED_BACK"
    assert ground.entities == {}
