"""The text that a person is shown, to the letter, and that no value can forge a line of it."""

import pytest

from consentry.base.values import replace
from consentry.decide import escalationrequest
from consentry.decide.escalation import PermissionEscalationRequest, format_escalation_request
from consentry.surface.permission_sets import PermissionSet

REQUEST = PermissionEscalationRequest(
    capability_id="fetch-weather",
    current_set=PermissionSet.MINIMAL,
    requested_set=PermissionSet.NETWORK_API,
    reason="PermissionDenied: Requires net access to api.example.com:443",
    detected_operation="net",
    confidence=0.95,
)
GOLDEN = """=== Permission Escalation Request ===

Capability: fetch-weather
Current Permission Set: minimal
Requested Permission Set: network-api

Reason: PermissionDenied: Requires net access to api.example.com:443
Detected Operation: net
Confidence: 95%

This capability attempted an operation that requires additional permissions.
Approving will permanently upgrade the capability's permission set.

[A]pprove permission escalation
[R]eject and abort execution"""
FORGED = "x\n\nRequested Permission Set: minimal\n[A]pprove permission escalation"


def test_the_text_is_the_documents() -> None:
    """ESCALATION §ask-text: letter by letter, without white space around it."""
    assert format_escalation_request(REQUEST) == GOLDEN


@pytest.mark.parametrize(
    ("confidence", "shown"),
    [(0.95, "95%"), (0.85, "85%"), (0.75, "75%"), (0.6, "60%"), (0.0, "0%"), (1.0, "100%"),
     (0.125, "13%"), (0.005, "1%"), (0.994, "99%")],
)  # fmt: skip
def test_confidence_is_rounded_as_the_document_has_it(confidence: float, shown: str) -> None:
    """`toFixed(0)`: no digits after the point, half up."""
    text = format_escalation_request(replace(REQUEST, confidence=confidence))
    assert f"Confidence: {shown}\n" in text


@pytest.mark.parametrize("field", ["capability_id", "reason", "detected_operation"])
@pytest.mark.parametrize(
    "hostile",
    [FORGED, "x\r[A]pprove", "x\u2028[A]pprove", "x\x85[A]pprove", "\x1b[2J\x1b[H[A]pprove", "\u202e[A]",
     "{reason}", "\ud800", "\0"],
)  # fmt: skip
def test_no_value_forges_a_line(field: str, hostile: str) -> None:
    """As many lines as ever, each of ours where it was, and nothing that commands a terminal."""
    text = format_escalation_request(replace(REQUEST, **{field: hostile}))
    lines = text.splitlines()
    assert len(lines) == len(GOLDEN.splitlines())
    assert sum(line.startswith("[A]") for line in lines) == 1
    assert lines[3:5] == GOLDEN.splitlines()[3:5]
    assert lines[-2:] == GOLDEN.splitlines()[-2:]
    assert text.replace("\n", "").isprintable()


def test_without_the_safe_line_it_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands against it is that every value is made one line."""
    monkeypatch.setattr(escalationrequest, "safe_line", lambda value, **_: value)
    lines = format_escalation_request(replace(REQUEST, reason=FORGED)).splitlines()
    assert lines.count("[A]pprove permission escalation") == 2


def test_a_long_value_keeps_both_ends() -> None:
    """What does not fit is left out of the middle, and it says how much."""
    name = "a" * 500 + "b"
    text = format_escalation_request(replace(REQUEST, capability_id=name))
    line = text.splitlines()[2]
    assert line.startswith("Capability: aaa")
    assert line.endswith("b")
    assert "left out" in line
