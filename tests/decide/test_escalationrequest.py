"""The request for a larger set as a value, and the steps there are (ESCALATION AC1)."""

import pytest

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.decide.escalation import (
    PermissionEscalationRequest,
    escalation_digest,
    get_valid_escalation_targets,
    is_valid_escalation,
)
from consentry.surface.permission_sets import PermissionSet

MINIMAL, READONLY, FILESYSTEM, NETWORK, STANDARD, TRUSTED = PermissionSet
WORKSPACE = "/place/project"
DENIED = "PermissionDenied: Requires "
TODAY = 'NotCapable: Requires {} access to "{}", run again with the --allow-{} flag'


def test_the_request_has_six_fields() -> None:
    """ESCALATION AC1, §request-1: under its own names here, under the document's when written."""
    request = PermissionEscalationRequest(
        capability_id="cap",
        current_set=MINIMAL,
        requested_set=NETWORK,
        reason="PermissionDenied: net access to api.example.com",
        detected_operation="fetch",
        confidence=0.85,
    )
    written = request.to_json()
    assert written == {
        "capabilityId": "cap",
        "currentSet": "minimal",
        "requestedSet": "network-api",
        "reason": "PermissionDenied: net access to api.example.com",
        "detectedOperation": "fetch",
        "confidence": 0.85,
    }
    assert PermissionEscalationRequest.from_json(written) == request


def test_sets_may_be_given_by_name() -> None:
    """What is kept is the set itself."""
    request = PermissionEscalationRequest("c", "minimal", "readonly", "r", "read", 1.0)  # type: ignore[arg-type]
    assert request.current_set is MINIMAL
    assert request.requested_set is READONLY


@pytest.mark.parametrize(("current", "wanted"), [(MINIMAL, TRUSTED), (STANDARD, TRUSTED),
                                                 (FILESYSTEM, READONLY), (NETWORK, FILESYSTEM),
                                                 (MINIMAL, MINIMAL)])  # fmt: skip
def test_no_request_is_for_an_illegal_step(current: PermissionSet, wanted: PermissionSet) -> None:
    """ESCALATION §step-2: least of all for `trusted`, whoever makes the request."""
    with pytest.raises(Refused) as refusal:
        PermissionEscalationRequest("c", current, wanted, "r", "read", 0.5)
    assert refusal.value.code is Code.PERMISSION_STEP


@pytest.mark.parametrize(
    ("field", "value"),
    [("confidence", 2.0), ("confidence", True), ("confidence", "1"), ("reason", None)],
)
def test_what_is_read_back_is_checked(field: str, value: object) -> None:
    """A field of another kind is refused by its name."""
    written = PermissionEscalationRequest("c", MINIMAL, READONLY, "r", "read", 0.5).to_json()
    with pytest.raises(BadInput) as refusal:
        PermissionEscalationRequest.from_json({**written, field: value})
    assert refusal.value.where is not None
    assert refusal.value.where.field == field


def test_what_an_escalation_may_lead_to() -> None:
    """ESCALATION §step-3: by set or by name, and from the last two to nothing."""
    assert get_valid_escalation_targets("minimal") == (READONLY, FILESYSTEM, NETWORK, STANDARD)
    assert get_valid_escalation_targets(STANDARD) == get_valid_escalation_targets(TRUSTED) == ()
    for current in PermissionSet:
        for wanted in PermissionSet:
            is_legal = wanted in get_valid_escalation_targets(current)
            assert is_valid_escalation(current, wanted) is is_legal
            assert is_valid_escalation(current.value, wanted.value) is is_legal


def test_an_execution_has_one_digest() -> None:
    """Another execution or another capability has another one."""
    one = escalation_digest("execution-1", "cap")
    assert one == escalation_digest("execution-1", "cap")
    assert (
        len({one, escalation_digest("execution-2", "cap"), escalation_digest("execution-1", "c")})
        == 3
    )
