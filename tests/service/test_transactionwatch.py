"""The watch of a module's changes: grants and modes, before writes, between them, and whatever a store makes of it.

The grants are real ones that another process takes back; the document lies in a store of the host's own, so
that this can happen in the middle of a commit.
"""

from pathlib import Path

import pytest

from consentry.decide.modulemode import ModuleMode
from tests.service import weakenedmodules
from tests.service.carelessstores import (
    OwnStore,
)
from tests.service.changing import (
    APPLIED,
    FAILED,
    ROLLED_BACK,
    ChangingBoard,
    add,
)
from tests.service.modulehosting import FOR_GOOD, WRITE, package, summary

pytestmark = pytest.mark.timeout(120)

VIOLATION = "capability-policy-violation"
THREE = (add("n1"), add("n2"), add("n3"))


# Before a preview.


def test_who_may_not_change_it_is_told_nothing_of_the_document(changing: ChangingBoard) -> None:
    """MODULES §stage-pre-apply: the capability is looked at before the document is, also for a second preview."""
    changing.own(add("secret"))
    changing.ready(WRITE)
    outcome = changing.change("add", add("secret"))
    assert (outcome.transaction_state, outcome.code) == (FAILED, "tx-operation")
    changing.revoke(WRITE)
    again = changing.host.transactions.preview_again(str(outcome.transaction_id))
    assert again.error is not None
    assert (again.state, again.error.code) == (FAILED, "capability-not-granted")
    assert "there" not in again.error.why
    assert changing.rejected() == [("capability-not-granted", WRITE)]


# Before an apply.


def test_a_grant_that_is_gone_before_the_apply_leaves_a_no_op(changing: ChangingBoard) -> None:
    """MODULES §stage-pre-apply: rejected before anything changes; the transaction is a no-op, and can come again."""
    changing.ready(WRITE)
    outcome = changing.change("edit", add())
    changing.host.answer(str(outcome.request_id), "approve_once")
    changing.revoke(WRITE)
    after = changing.host.resume(str(outcome.request_id))
    assert summary(after) == ("rejected", "capability-not-granted", WRITE)
    assert (after.transaction_state, after.rollback) == (FAILED, None)
    assert changing.document == {}
    assert changing.used() == [WRITE], "of the call that was asked about, and no apply"
    assert (changing.rejected(), changing.roll_backs()) == ([("capability-not-granted", WRITE)], [])


def test_with_its_grant_the_same_change_is_applied(changing: ChangingBoard) -> None:
    """MODULES §stage-pre-apply: the same, with the grant still there: applied, and its use is on record."""
    changing.ready(WRITE)
    outcome = changing.change("edit", add())
    changing.host.answer(str(outcome.request_id), "approve_once")
    after = changing.host.resume(str(outcome.request_id))
    assert (after.ok, after.transaction_state) == (True, APPLIED)
    used = changing.payloads("module.capability.used")
    assert [each["operation"] for each in used] == [
        None,
        {
            "operation": "apply",
            "txId": outcome.transaction_id,
            "attemptNo": 1,
            "previewHash": changing.attempt(outcome).preview_hash,
        },
    ]


def test_without_the_check_a_revoked_grant_would_change_it(changing: ChangingBoard) -> None:
    """MODULES §stage-pre-apply: what the look before the apply holds off."""
    changing.ready(WRITE)
    outcome = changing.change("edit", add())
    changing.host.answer(str(outcome.request_id), "approve_once")
    changing.revoke(WRITE)
    with weakenedmodules.without_grants():
        assert changing.host.resume(str(outcome.request_id)).ok
    assert changing.document == {"notes": {"n1": "hello"}}


@pytest.mark.parametrize("mode", [ModuleMode.DENY_ALL, ModuleMode.INSPECT_ONLY])
def test_a_mode_that_stops_actions_stops_what_was_approved(
    changing: ChangingBoard, mode: ModuleMode
) -> None:
    """MODULES §mode-deny-all, §mode-inspect-only: a yes from before carries nothing out."""
    changing.ready(WRITE)
    outcome = changing.change("edit", add())
    changing.host.answer(str(outcome.request_id), "approve_once")
    changing.set_mode(mode)
    after = changing.host.resume(str(outcome.request_id))
    assert (summary(after)[1], after.transaction_state) == ("capability-not-granted", FAILED)
    assert changing.document == {}


def test_another_content_of_the_module_does_not_carry_it_out(changing: ChangingBoard) -> None:
    """MODULES §use-4: the yes was to the module that asked."""
    changing.take(package(("notes.edit",)))
    changing.grant(WRITE, decision=FOR_GOOD)
    outcome = changing.change("edit", add())
    changing.host.answer(str(outcome.request_id), "approve_once")
    changing.take(package(("notes.edit",), version="2.0.0"))
    after = changing.host.resume(str(outcome.request_id))
    assert (after.status, after.transaction_state) == ("rejected", FAILED)
    assert changing.document == {}


# Between writes.


@pytest.mark.parametrize("at", [2, 3, 4])
def test_a_grant_that_goes_while_it_writes_is_a_violation(
    changing: ChangingBoard, home: Path, at: int
) -> None:
    """MODULES §stage-in-tx, §stage-rolled-back, CONTRACTS §3-violation: taken back, and both are on record."""
    store = OwnStore(home)
    changing.start_with(store)
    # Four writes, of which the third is not asked about: the last asking is before all takes effect.
    store.acts[at] = lambda: changing.revoke(WRITE)
    outcome = changing.change("add", *THREE)
    assert summary(outcome) == ("rejected", VIOLATION, WRITE)
    assert (outcome.transaction_state, outcome.rollback) == (ROLLED_BACK, "rolled_back")
    assert changing.document == {}
    assert changing.steps(str(outcome.transaction_id))[-3:] == [
        "APPLYING",
        "RECOVERY_PENDING",
        "ROLLED_BACK",
    ]
    assert changing.rejected() == [(VIOLATION, WRITE)]
    assert changing.roll_backs() == ["capability.rollback.executed"]
    [held] = [
        each
        for each in changing.payloads("transaction.transition")
        if each["nextState"] == "RECOVERY_PENDING"
    ]
    assert (held["afterPartialApply"], held["error"]["code"]) == (True, VIOLATION)


def test_a_refusal_before_the_first_write_is_none(changing: ChangingBoard, home: Path) -> None:
    """MODULES §stage-pre-apply: nothing had begun, so nothing is taken back."""
    store = OwnStore(home)
    changing.start_with(store)
    store.acts[1] = lambda: changing.revoke(WRITE)
    outcome = changing.change("add", *THREE)
    assert summary(outcome) == ("rejected", "capability-not-granted", WRITE)
    assert (outcome.transaction_state, outcome.rollback) == (FAILED, None)
    assert (changing.document, changing.roll_backs()) == ({}, [])


def test_a_grant_that_stays_lets_all_of_it_through(changing: ChangingBoard, home: Path) -> None:
    """MODULES §stage-in-tx: the same change, with the grant still there."""
    store = OwnStore(home)
    changing.start_with(store)
    assert changing.change("add", *THREE).ok
    assert (store.asked, len(changing.document["notes"])) == (4, 3)


def test_without_asking_between_writes_it_would_stay(changing: ChangingBoard, home: Path) -> None:
    """MODULES §stage-in-tx: what the asking holds off: a change under a grant that was revoked before it took effect."""
    store = OwnStore(home)
    changing.start_with(store)
    store.acts[2] = lambda: changing.revoke(WRITE)
    with weakenedmodules.without_watching():
        assert changing.change("add", *THREE).ok
    assert len(changing.document["notes"]) == 3


@pytest.mark.parametrize("mode", [ModuleMode.DENY_ALL, ModuleMode.INSPECT_ONLY])
def test_a_mode_that_is_set_while_it_writes_is_obeyed(
    changing: ChangingBoard, home: Path, mode: ModuleMode
) -> None:
    """MODULES §mode-deny-all, §mode-inspect-only, §stage-in-tx: also in the middle of a change."""
    store = OwnStore(home)
    changing.start_with(store)
    store.acts[4] = lambda: changing.set_mode(mode)
    outcome = changing.change("add", *THREE)
    assert (outcome.code, outcome.rollback, changing.document) == (VIOLATION, "rolled_back", {})
