"""Decisions about permission sets: what can be one (ESCALATION AC7)."""

import pytest

from consentry.base.errors import BadInput, Refused
from consentry.decide.identity import Identity
from consentry.decide.permissionaudit import EscalationDecision
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import OWNER

MINIMAL, NET, TRUSTED = PermissionSet.MINIMAL, PermissionSet.NETWORK_API, PermissionSet.TRUSTED


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
