"""Whom a module's change is put to, whose yes counts, and what automation gets of it (MODULES §limit-write-policy)."""

from typing import Any

import pytest

from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.decide.identity import Role
from consentry.decide.question import RequestKind
from consentry.decide.transactionask import TransactionAsk
from tests.service.changing import (
    COMMANDS,
    PENDING,
    ChangingBoard,
    add,
    removed,
)
from tests.service.modulehosting import AUTO, READ, WRITE, graph, package, summary

pytestmark = pytest.mark.timeout(120)


def waits(board: ChangingBoard, action: str, *operations: Any, **how: Any) -> str:
    """The request that a change waits for."""
    outcome = board.change(action, *operations, **how)
    assert (outcome.status, outcome.transaction_state) == ("waiting", PENDING)
    return str(outcome.request_id)


# Who is asked, and who may say yes.


def test_the_question_is_about_the_preview(changing: ChangingBoard) -> None:
    """CONTRACTS §3-approval: a person sees what it does before they say yes; a soft rule is asked every time, too."""
    changing.ready(WRITE)
    person = changing.person("approve_once", "approve_once")
    for name in ("n1", "n2"):
        assert changing.change("edit", add(name), asker=person).ok
    assert [each.question.kind for each in person.asked] == [RequestKind.TRANSACTION] * 2
    asks = [TransactionAsk.of(each) for each in person.asked]
    assert asks[0].preview_hash != asks[1].preview_hash


@pytest.mark.parametrize("decision", ["approve_session", "approve_persistent"])
def test_a_yes_to_a_change_is_not_remembered(changing: ChangingBoard, decision: str) -> None:
    """CONTRACTS §3-approval: it binds to one preview, and to nothing that comes later."""
    changing.ready(WRITE)
    request_id = waits(changing, "edit", add())
    with pytest.raises(Refused, match="for this preview alone"):
        changing.host.answer(request_id, decision)
    assert changing.host.resume(request_id).status == "waiting"


@pytest.mark.parametrize(
    ("role", "may"),
    [
        (Role.OWNER, True),
        (Role.OPERATOR, True),
        (Role.APPROVER, False),
        (Role.VIEWER, False),
        (Role.SYSTEM, False),
    ],
)
def test_the_role_that_the_rule_names_says_yes(
    changing: ChangingBoard, role: Role, *, may: bool
) -> None:
    """CONTRACTS §3-apply: authority: the owner has every role."""
    changing.own(add())
    changing.ready(WRITE)
    request_id = waits(changing, "wipe", removed("n1"))
    if may:
        changing.host.answer(request_id, "approve_once", role=role)
        assert changing.host.resume(request_id).ok
    else:
        with pytest.raises(ConsentryError):
            changing.host.answer(request_id, "approve_once", role=role)
        assert changing.host.resume(request_id).status == "waiting"
    assert (changing.document == {}) is may


def test_where_nobody_is_to_be_asked_nothing_runs(changing: ChangingBoard) -> None:
    """MODULES §limit-write-policy: a caller that allows no question gets no change past one, and puts none."""
    changing.ready(WRITE)
    outcome = changing.change("edit", add(), ask=False)
    assert summary(outcome)[:2] == ("rejected", "approval-pending")
    assert (changing.calls, changing.host.pending(), changing.document) == ([], [], {})
    assert changing.change("add", add(), ask=False).ok, "what needs no question needs none"


def test_a_question_of_another_host_is_not_answered_here(changing: ChangingBoard) -> None:
    """CONTRACTS §3-approval: each host answers what its own modules ask."""
    changing.ready(WRITE)
    request_id = waits(changing, "edit", add())
    with changing.opened(host_id="another-board") as other:
        for act in (
            lambda: other.answer(request_id, "approve_once"),
            lambda: other.resume(request_id),
        ):
            with pytest.raises(ConsentryError, match="not asked by a module of this host"):
                act()
        with pytest.raises(UsageProblem):
            other.transactions.apply(changing.host.transactions.listed()[0].tx_id)
        assert other.state() == {}


# From automation.


def automated(board: ChangingBoard) -> None:
    """The usual module, whose actions automation may call."""
    actions = [
        {"id": name, "calls": [f"notes.{name}"], "mutates": ["/notes"], "surface": ["automation"]}
        for name in ("add", "edit")
    ]
    actions[1]["requiresApproval"] = {"reason": "r", "level": "soft"}  # type: ignore[assignment]
    assert board.take(package(COMMANDS), graph(*actions))["ok"]
    board.grant(READ, WRITE, AUTO)


def test_automation_changes_under_the_same_rules(changing: ChangingBoard) -> None:
    """MODULES §limit-automation-policy: what was granted is applied, what needs a person waits for one."""
    automated(changing)
    assert changing.change("add", add(), origin="automation").ok
    request_id = waits(changing, "edit", add("n2"), origin="automation")
    shown = TransactionAsk.of(changing.host.pending()[0])
    assert "Called from automation: nobody clicked." in shown.lines()
    changing.host.answer(request_id, "approve_once")
    assert changing.host.resume(request_id).ok


def test_automation_piles_up_no_changes(changing: ChangingBoard) -> None:
    """MODULES §limit-automation-channel: the same change that waits is joined, and a person's no is taken."""
    automated(changing)
    first = waits(changing, "edit", add(), origin="automation")
    assert waits(changing, "edit", add(), origin="automation") == first
    assert len(changing.host.pending()) == 1
    changing.host.answer(first, "deny")
    again = changing.change("edit", add(), origin="automation")
    assert (summary(again)[:2], changing.host.pending()) == (("rejected", "approval-denied"), [])
    assert waits(changing, "edit", add("n2"), origin="automation") != first, "another change"
    assert waits(changing, "edit", add()) != first, "by hand it is somebody's own wish"


def test_automation_without_its_capability_changes_nothing(changing: ChangingBoard) -> None:
    """MODULES §limit-automation-channel, §stage-pre-apply: also when that goes between the yes and the apply."""
    automated(changing)
    request_id = waits(changing, "edit", add(), origin="automation")
    changing.host.answer(request_id, "approve_once")
    changing.revoke(AUTO)
    outcome = changing.host.resume(request_id)
    assert summary(outcome) == ("rejected", "capability-not-granted", AUTO)
    assert changing.document == {}
