"""Transactions as they are proposed, asked about, previewed again and ended; on both databases (CONTRACTS §3)."""

from itertools import pairwise
from typing import Any

import pytest

from consentry.base.canonical import Json, canonical_json
from consentry.base.errors import BadInput, ConsentryError, Refused
from consentry.decide.identity import Role
from consentry.decide.question import Outcome, RequestKind
from consentry.decide.statechange import MOST_BYTES
from consentry.decide.transactionask import TransactionAsk
from consentry.decide.txpreview import check_preview
from consentry.record.transactionstates import is_legal
from consentry.service.transactionplace import TxTerms
from tests.decide.samples import APPROVER, OWNER
from tests.service.txground import HELLO, RULE, Ground, operations
from tests.store.conftest import Store
from tests.store.keepers import types

pytestmark = pytest.mark.timeout(120)

OTHER = {"op": "add", "path": "/notes/n2", "value": 2}


@pytest.fixture
def ground(store: Store) -> Ground:
    """One program."""
    return Ground(store)


# What proposing leads to.


def test_a_change_of_a_persons_own_is_approved_by_them(ground: Ground) -> None:
    """CONTRACTS §3-approval: of what needs no question, the person is the approver; nothing is applied yet."""
    attempt = ground.proposed()
    assert (attempt.state, attempt.attempt_no, attempt.request_id) == ("APPROVED", 1, None)
    approval = attempt.approval
    assert approval is not None
    assert (approval.approver_id, approval.approver_role) == (OWNER, Role.OWNER)
    assert approval.preview_hash == attempt.preview_hash
    assert ground.way() == [
        "PREVIEWING",
        "PREVIEW_READY",
        "APPROVAL_PENDING",
        "APPROVED",
    ]
    assert ground.entities == {}


def test_what_needs_approval_waits_with_its_question(ground: Ground) -> None:
    """CONTRACTS §3-approval: whether a person is asked follows from the plan; the question is put with the preview."""
    attempt = ground.proposed(rule=RULE)
    assert (attempt.state, attempt.approval) == ("APPROVAL_PENDING", None)
    request = ground.desk.look(str(attempt.request_id))
    assert (request.is_pending, request.question.kind) == (True, RequestKind.TRANSACTION)
    ask = TransactionAsk.of(request)
    assert (ask.tx_id, ask.attempt_no, ask.preview_hash, ask.base_revision) == (
        attempt.tx_id,
        attempt.attempt_no,
        attempt.preview_hash,
        attempt.base_revision,
    )


def test_a_large_decimal_can_be_changed_again(ground: Ground) -> None:
    """CONTRACTS §3-hash: what canonical JSON writes in digits is read back as it was, also for the next change."""
    ground.transactions.change(ground.origin(), operations({**HELLO, "value": {"x": 1e20}}))
    removal = ground.transactions.change(
        ground.origin(), operations({"op": "remove", "path": "/notes/n1"})
    )
    assert (removal.state, ground.entities) == ("APPLIED", {})
    assert ground.transactions.drawn(removal).writes[0].before == {"x": 1e20}
    ground.transactions.roll_back(removal.tx_id)
    assert list(ground.entities.values()) == [{"x": 1e20}]


def test_what_is_as_large_as_can_be_is_read_again(ground: Ground) -> None:
    """CONTRACTS §3-hash: as it is kept it is a little longer than it was asked for, and no less believed."""
    asked: dict[str, Json] = {**HELLO, "value": "x" * MOST_BYTES}
    asked["value"] = "x" * (2 * MOST_BYTES - len(canonical_json([asked])))
    attempt = ground.transactions.change(ground.origin(), operations(asked))
    assert attempt.state == "APPLIED"
    assert ground.transactions.drawn(attempt).operations == operations(asked)


def test_the_preview_that_is_kept_is_the_one_that_was_hashed(ground: Ground) -> None:
    """CONTRACTS §3-hash: what is shown later is held against the hash of the attempt."""
    attempt = ground.proposed(HELLO, OTHER)
    preview = ground.transactions.drawn(attempt).preview
    assert preview is not None
    assert check_preview(preview) == attempt.preview_hash
    assert (preview["txId"], preview["baseRevision"]) == (attempt.tx_id, attempt.base_revision)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"op": "remove", "path": "/notes/n1"}, "operations[0]: `/notes/n1` is not there"),
        ({"op": "replace", "path": "/notes/n9/x", "value": 1}, "is not there"),
    ],
)
def test_what_cannot_be_done_fails_before_anything(ground: Ground, asked: Any, why: str) -> None:
    """MODULES §stage-pre-apply: no preview, no question, no change; and it says which operation."""
    attempt = ground.proposed(asked, rule=RULE)
    assert attempt.error is not None
    assert (attempt.state, attempt.error.code) == ("FAILED_PRE_APPLY", "tx-operation")
    assert why in attempt.error.why
    assert (attempt.preview_hash, attempt.request_id, attempt.approval) == (None, None, None)
    assert (ground.way(), ground.entities) == (["PREVIEWING", "FAILED_PRE_APPLY"], {})


def test_what_changes_nothing_is_no_change(ground: Ground) -> None:
    """CONTRACTS §3-preview: nobody is asked about nothing."""
    ground.applied()
    attempt = ground.proposed({"op": "replace", "path": "/notes/n1", "value": "hello"}, rule=RULE)
    assert attempt.error is not None
    assert (attempt.state, attempt.request_id) == ("FAILED_PRE_APPLY", None)
    assert attempt.error.why == "these operations leave everything as it is"


def test_every_step_is_one_of_the_table_and_all_are_one_append(ground: Ground) -> None:
    """CONTRACTS §3-states, §3-audit: from the first step on, each follows the one before it."""
    attempt = ground.applied()
    ground.transactions.roll_back(attempt.tx_id)
    steps = ground.steps(attempt.tx_id)
    for before, after in pairwise(steps):
        assert before["nextState"] == after["prevState"]
    for each in steps:
        assert is_legal(each["prevState"], each["nextState"])
    assert (steps[0]["prevState"], steps[-1]["nextState"]) == ("RECEIVED", "ROLLED_BACK")
    stages = [each["stage"] for each in steps]
    assert stages == [
        "receive",
        "preview",
        "approve",
        "approve",
        "apply",
        "apply",
        "rollback",
        "rollback",
    ]


def test_the_id_of_another_transaction_is_not_taken_twice(ground: Ground) -> None:
    """CONTRACTS §3-attempt: an attempt is its transaction and its number, and there is one of each."""
    first = ground.proposed()
    with pytest.raises(ConsentryError, match="already"):
        ground.transactions.propose(ground.origin(), operations(), first.tx_id)
    assert ground.kept(first) == first


def test_an_approval_that_would_last_too_long_is_refused(store: Store) -> None:
    """CONTRACTS §3-approval: a span of no time, or beyond a week, is a mistake of the host, and told."""
    for seconds in (0, -1, 8 * 24 * 3600):
        with pytest.raises(BadInput, match="lasts 1 to"):
            Ground(store, terms=TxTerms(ttl_seconds=seconds))


# What an answer leads to.


def test_a_yes_approves_exactly_what_was_shown(ground: Ground) -> None:
    """CONTRACTS §3-approval: `approverId, approverRole, decision, decisionAt, approvalTtlSeconds`, bound to four."""
    attempt = ground.answered(ground.proposed(rule=RULE))
    assert attempt.state == "APPROVED"
    assert attempt.approval is not None
    assert attempt.approval.to_json() == {
        "txId": attempt.tx_id,
        "attemptNo": 1,
        "previewHash": attempt.preview_hash,
        "baseRevision": attempt.base_revision,
        "approverId": OWNER,
        "approverRole": "owner",
        "decision": "approved",
        "decisionAt": str(attempt.changed_at),
        "approvalTtlSeconds": 600,
        "requestId": attempt.request_id,
    }
    assert types(ground.ledger)[-2:] == ["approval.answered", "transaction.transition"]


def test_a_no_ends_it(ground: Ground) -> None:
    """CONTRACTS §3-states: `APPROVAL_PENDING` to `REJECTED`, which nothing follows."""
    attempt = ground.answered(ground.proposed(rule=RULE), Outcome.DENIED)
    assert attempt.error is not None
    assert (attempt.state, attempt.error.code) == ("REJECTED", "approval-denied")
    for act in (ground.transactions.apply, ground.transactions.preview_again):
        with pytest.raises(Refused, match="is `REJECTED`"):
            act(attempt.tx_id)


def test_no_answer_in_time_is_a_no(ground: Ground) -> None:
    """CONTRACTS §3-states: whoever looks first ends it."""
    attempt = ground.proposed(rule=RULE)
    ground.pass_time(8 * 24 * 3600)
    after = ground.transactions.look(attempt.tx_id)
    assert after.error is not None
    assert (after.state, after.error.code) == ("REJECTED", "approval-expired")


def test_a_question_that_lost_its_ground_can_be_previewed_again(ground: Ground) -> None:
    """CONTRACTS §3-states: `APPROVAL_PENDING` to `FAILED_PRE_APPLY`, and from there the next attempt."""
    attempt = ground.proposed(rule=RULE)
    ground.desk.requests.supersede(str(attempt.request_id))
    assert ground.kept(attempt).state == "FAILED_PRE_APPLY"
    again = ground.transactions.preview_again(attempt.tx_id)
    assert (again.state, again.attempt_no) == ("APPROVAL_PENDING", 2)
    assert again.request_id != attempt.request_id


@pytest.mark.parametrize("role", [Role.VIEWER, Role.SYSTEM])
def test_some_roles_approve_nothing(ground: Ground, role: Role) -> None:
    """CONTRACTS §3-apply: authority is looked at when the yes is given."""
    attempt = ground.proposed(rule=RULE)
    with pytest.raises(ConsentryError):
        ground.answered(attempt, role=role)
    assert ground.kept(attempt).state == "APPROVAL_PENDING"
    assert ground.desk.look(str(attempt.request_id)).is_pending


# The next attempt.


def test_a_new_preview_voids_the_approval(ground: Ground) -> None:
    """CONTRACTS §3-approval, §3-attempt: another attempt, another hash, and nobody approved it."""
    first = ground.answered(ground.proposed(rule=RULE))
    ground.applied(OTHER)
    failed = ground.transactions.apply(first.tx_id)
    assert (failed.state, ground.entities) == ("FAILED_PRE_APPLY", {"/notes/n2": 2})
    second = ground.transactions.preview_again(first.tx_id)
    assert (second.attempt_no, second.state, second.approval) == (2, "APPROVAL_PENDING", None)
    assert second.preview_hash != first.preview_hash
    assert second.base_revision != first.base_revision
    with pytest.raises(Refused, match="has to be `APPROVED`"):
        ground.transactions.apply(first.tx_id)
    assert ground.transactions.apply(ground.answered(second).tx_id).state == "APPLIED"
    assert ground.entities == {"/notes/n1": "hello", "/notes/n2": 2}


def test_two_previews_at_once_are_one(ground: Ground, store: Store) -> None:
    """CONTRACTS §3-attempt: who comes second is told, and there is one next attempt."""
    other = Ground(store)
    failed = ground.proposed({"op": "remove", "path": "/notes/n1"})
    other.applied()
    stale = other.kept(failed)
    assert ground.transactions.preview_again(failed.tx_id).attempt_no == 2
    with pytest.raises(Refused, match="has to be `FAILED_PRE_APPLY`"):
        other.transactions.preview_again(stale.tx_id)
    attempts = ground.transactions.place.stored.attempts(failed.tx_id)
    assert [each.attempt_no for each in attempts] == [1, 2]


# Giving one up.


def test_what_waits_is_given_up_through_its_question(ground: Ground) -> None:
    """CONTRACTS §3-states: the same answer as anybody's, and the question is answered by it."""
    attempt = ground.proposed(rule=RULE)
    after = ground.transactions.reject(attempt.tx_id, APPROVER, "approver", "not now")
    assert (after.state, after.error and after.error.why) == ("REJECTED", "not now")
    assert ground.desk.look(str(attempt.request_id)).status == Outcome.DENIED


def test_what_failed_is_given_up_for_good(ground: Ground) -> None:
    """CONTRACTS §3-states: `FAILED_PRE_APPLY` to `REJECTED`."""
    failed = ground.proposed({"op": "remove", "path": "/notes/n1"})
    with pytest.raises(Refused, match="may look at"):
        ground.transactions.reject(failed.tx_id, OWNER, Role.VIEWER)
    assert ground.transactions.reject(failed.tx_id, OWNER, Role.OWNER).state == "REJECTED"
    with pytest.raises(Refused):
        ground.transactions.reject(failed.tx_id, OWNER, Role.OWNER)


def test_what_is_applied_is_not_given_up(ground: Ground) -> None:
    """CONTRACTS §3-states: it is taken back, or it stays."""
    for attempt in (ground.proposed(), ground.applied(OTHER)):
        with pytest.raises(Refused, match="has to be `FAILED_PRE_APPLY`"):
            ground.transactions.reject(attempt.tx_id, OWNER, Role.OWNER)
