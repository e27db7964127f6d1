"""The parts of an attempt: kept as they are, and not read where nobody here wrote them (CONTRACTS §3)."""

from typing import Any

import pytest

from consentry.base.errors import BadInput, ConsentryError
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.capabilitycheck import Origin
from consentry.decide.identity import SYSTEM, Role
from consentry.decide.txparts import (
    MOST_TTL,
    Approval,
    TxError,
    TxOrigin,
    Worker,
    check_ttl,
    read_rule,
)
from tests.decide.samples import NOW
from tests.decide.txsamples import RULE, WORKER, WRONG, approval, origin


def test_an_approval_says_these_and_no_more() -> None:
    """CONTRACTS §3-approval: its fields by the document's names, and which question it answered."""
    assert list(approval().to_json()) == [
        "txId",
        "attemptNo",
        "previewHash",
        "baseRevision",
        "approverId",
        "approverRole",
        "decision",
        "decisionAt",
        "approvalTtlSeconds",
        "requestId",
    ]
    assert Approval.from_json(approval().to_json()) == approval()


@pytest.mark.parametrize("seconds", [1, 600, MOST_TTL])
def test_an_approval_lasts_so_long(seconds: int) -> None:
    """CONTRACTS §3-approval: “approvalTtlSeconds”: from the decision on."""
    assert approval(ttl_seconds=seconds).expires_at == NOW.plus(Duration(seconds * 1000))
    check_ttl(seconds)


@pytest.mark.parametrize("seconds", [0, -1, MOST_TTL + 1])
def test_no_approval_lasts_for_nothing_or_for_ever(seconds: int) -> None:
    """CONTRACTS §3-approval: one second to a week."""
    for act in (lambda: approval(ttl_seconds=seconds), lambda: check_ttl(seconds)):
        with pytest.raises(BadInput, match="lasts 1 to 604,800 seconds"):
            act()


@pytest.mark.parametrize(
    "changes",
    [
        {"approver_id": "somebody"},
        {"approver_id": ""},
        {"approver_role": Role.SYSTEM},
        {"approver_id": SYSTEM, "approver_role": Role.OWNER},
    ],
)
def test_who_approves_is_somebody_in_a_role_of_theirs(changes: dict[str, Any]) -> None:
    """CONTRACTS §3-approval: “approverId, approverRole”: the system is no person, and no person the system."""
    with pytest.raises(ConsentryError):
        approval(**changes)


@pytest.mark.parametrize(
    "given",
    [
        origin(),
        origin(rule=None, session_id=None, origin=Origin.BACKGROUND, commands=("a.b", "c.d")),
        origin(module=None, action_id=None, action_run_id=None, rule=None),
        origin(rule=replace(RULE, approver=None)),
    ],
)
def test_an_origin_is_kept_as_it_is(given: TxOrigin) -> None:
    """CONTRACTS §3-attempt: whose it is, what it calls and needs, and the rule it was proposed under."""
    assert TxOrigin.from_json(given.to_json()) == given


def test_whose_it_is_decides_who_is_asked() -> None:
    """CONTRACTS §3-approval: the track and the rule follow from the plan; nothing else says that nobody looks."""
    assert (origin().track, origin().approval_required) == ("heavy", True)
    assert origin(rule=None).approval_required is False
    own = origin(module=None, rule=None)
    assert (own.track, own.approval_required) == ("host", False)
    assert origin(module=None).approval_required is True
    assert (origin().subject, own.subject) == ("module:word-count", "host:note-board")


@pytest.mark.parametrize("changes", [{"label": ""}, {"host_id": ""}, {"proposed_by": "me"}])
def test_an_origin_of_nobody_is_none(changes: dict[str, Any]) -> None:
    """CONTRACTS §3-attempt: a host, a person, and what it is called."""
    with pytest.raises(ConsentryError):
        origin(**changes)


def test_an_origin_that_nobody_here_wrote_is_not_read() -> None:
    """CONTRACTS §3-attempt: each field there, and what it must be."""
    good = origin().to_json()
    for name in good:
        with pytest.raises(BadInput):
            TxOrigin.from_json({key: value for key, value in good.items() if key != name})
    for changes in (
        {"origin": "nowhere"},
        {"commands": "notes.add"},
        {"rule": {"reason": "r", "level": "firm", "approver": None}},
        {"module": {"moduleId": "x"}},
    ):
        with pytest.raises(BadInput):
            TxOrigin.from_json({**good, **changes})
    assert read_rule(None) is None


def test_an_error_keeps_its_words_out_of_the_event() -> None:
    """CONTRACTS §3-audit: “error code/class/safeToRetry/recoveryAction”; what it is about is not recorded."""
    assert WRONG.to_json() == {
        "code": "tx-conflict",
        "class": "conflict",
        "safeToRetry": True,
        "recoveryAction": "preview-again",
    }
    kept = replace(WRONG, capability_id="state.write.tx")
    assert TxError.from_json(kept.kept()) == kept


def test_a_worker_is_kept_as_it_is() -> None:
    """CONTRACTS §3-recovery: which process on which machine, and until when that is believed."""
    assert Worker.from_json(WORKER.to_json()) == WORKER
    with pytest.raises(BadInput):
        Worker.from_json({**WORKER.to_json(), "until": None})
