"""Decisions about permission sets: what can be one (ESCALATION AC7)."""

import pytest

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.decide.identity import SYSTEM, Identity
from consentry.decide.permissionaudit import (
    MANUAL,
    EscalationDecision,
    EscalationRefusal,
    require_step_by_hand,
)
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import OWNER

MINIMAL, NET, TRUSTED = PermissionSet.MINIMAL, PermissionSet.NETWORK_API, PermissionSet.TRUSTED
READONLY, FILES = PermissionSet.READONLY, PermissionSet.FILESYSTEM


def test_a_refused_step_may_be_any() -> None:
    """What was asked for is logged, also what no step leads to."""
    decision = EscalationDecision("cap", MINIMAL, TRUSTED, approved=False, approved_by=None)
    assert decision.to_json("x")["toSet"] == "trusted"


def test_an_approved_step_is_a_legal_one() -> None:
    """`trusted` is never reached by escalation."""
    EscalationDecision("cap", MINIMAL, NET, approved=True, approved_by=OWNER)
    with pytest.raises(Refused) as caught:
        EscalationDecision("cap", MINIMAL, TRUSTED, approved=True, approved_by=OWNER)
    assert caught.value.code == "permission-step"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"capability_id": ""}, "capabilityId"),
        ({"approved_by": None}, "approvedBy"),
        ({"approved_by": Identity("root")}, "approvedBy"),
        ({"detected_operation": ""}, "detectedOperation"),
        ({"reason": "a\0"}, "reason"),
    ],
)
def test_a_decision_that_cannot_be_is_refused_by_name(
    changes: dict[str, object], field: str
) -> None:
    """An approval says who approved."""
    fields: dict[str, object] = {
        "capability_id": "cap",
        "from_set": MINIMAL,
        "to_set": NET,
        "approved": True,
        "approved_by": OWNER,
    }
    with pytest.raises(BadInput, match=field):
        EscalationDecision(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("start", "wanted"),
    [(MINIMAL, TRUSTED), (NET, MINIMAL), (NET, NET), (TRUSTED, NET), (MINIMAL, NET)],
)
def test_a_person_may_set_by_hand_what_no_step_leads_to(
    start: PermissionSet, wanted: PermissionSet
) -> None:
    """`trusted`, less than there is, the same again, or a legal step; under the operation `manual`."""
    fields = {"approved": True, "approved_by": OWNER, "detected_operation": MANUAL}
    decision = EscalationDecision("cap", start, wanted, **fields)  # type: ignore[arg-type]
    assert decision.is_by_hand
    assert decision.to_json("x")["detectedOperation"] == "manual"


@pytest.mark.parametrize(("start", "wanted"), [(NET, FILES), (FILES, NET), (READONLY, NET)])
def test_by_hand_too_a_step_aside_is_refused(start: PermissionSet, wanted: PermissionSet) -> None:
    """It would take something and give something else; two commands say so more clearly."""
    with pytest.raises(Refused) as caught:
        require_step_by_hand(start, wanted)
    assert caught.value.code == "permission-step"


def test_only_a_person_has_hands() -> None:
    """Neither the system nor a policy; and what is given by hand is stored, never for one run."""
    fields = {"approved": True, "detected_operation": MANUAL}
    for somebody in (SYSTEM, Identity("policy:" + "a" * 64)):
        with pytest.raises(BadInput, match="approvedBy"):
            EscalationDecision("cap", MINIMAL, NET, approved_by=somebody, **fields)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="ephemeral"):
        EscalationDecision("cap", MINIMAL, NET, approved_by=OWNER, ephemeral=True, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("capability_id", "capabilityId"),
        ("detected_operation", "detectedOperation"),
        ("execution_id", "executionId"),
    ],
)
def test_a_refusal_says_whose_and_what(name: str, field: str) -> None:
    """ESCALATION §log-5: an empty text is none."""
    fields = {
        "capability_id": "cap",
        "from_set": MINIMAL,
        "code": Code.ESCALATION_CRITICAL,
        "detected_operation": "run",
        "reason": "",
        "execution_id": "execution-1",
    }
    assert EscalationRefusal(**fields).to_json("x")["resource"] is None  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=field):
        EscalationRefusal(**{**fields, name: ""})  # type: ignore[arg-type]
