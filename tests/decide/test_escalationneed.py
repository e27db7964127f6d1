"""How sure a suggestion is, and what it gives as its reason (ESCALATION §suggest-confidence)."""

import pytest

from consentry.decide.escalation import (
    suggest_escalation,
)
from consentry.decide.escalationrequest import MOST_REASON
from consentry.surface.permission_sets import PermissionSet

MINIMAL, READONLY, FILESYSTEM, NETWORK, STANDARD, TRUSTED = PermissionSet
WORKSPACE = "/place/project"
DENIED = "PermissionDenied: Requires "
TODAY = 'NotCapable: Requires {} access to "{}", run again with the --allow-{} flag'


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("read access to /etc/passwd", 0.95),
        ("net access to api.example.com:443", 0.95),
        ("net access to [2001:db8::1]:443", 0.95),
        ('env access to "HOME"', 0.95),
        ("read access to data/", 0.85),
        ("read access to data", 0.85),
        ("read access to .", 0.85),
        ("write access to /tmp", 0.85),
        ("net access to api.example.com", 0.85),
        ("net access to ::1", 0.85),
        ("net access to 192.0.2.0/24", 0.85),
        ("read access to data/*.csv", 0.75),
        ("net access to *.example.com", 0.75),
        ("env access to AWS_*", 0.75),
        ("read access", 0.60),
        ("net access", 0.60),
        ("env access", 0.60),
        ("net access to not!a!host", 0.60),
        ("env access to two words", 0.60),
        ("env access to A=B", 0.60),
    ],
)
def test_confidence_follows_how_exactly_it_is_named(what: str, expected: float) -> None:
    """ESCALATION §suggest-confidence: file or host and port, folder or host, pattern, nothing."""
    found = suggest_escalation(DENIED + what)
    assert found is not None
    assert found.confidence == expected


def test_of_several_the_least_sure_counts() -> None:
    """One exact name does not make up for a vague one."""
    found = suggest_escalation(f"{DENIED}read access to a\n{DENIED}read access")
    assert found is not None
    assert found.confidence == 0.60


def test_the_reason_is_what_was_said() -> None:
    """The original text, and whose capability it is."""
    error = f"{DENIED}net access to api.example.com:443"
    found = suggest_escalation(error, "cap")
    assert found is not None
    assert (found.capability_id, found.reason) == ("cap", error)


def test_a_long_reason_keeps_the_denial() -> None:
    """It is bounded, and what it is about stays in it."""
    error = "x" * 10_000 + f"{DENIED}read access to /place/a" + "y" * 10_000
    found = suggest_escalation(error)
    assert found is not None
    assert len(found.reason) == MOST_REASON
    assert f"{DENIED}read access to /place/a" in found.reason


def test_a_reason_can_be_stored() -> None:
    """Neither NUL nor half of a surrogate pair can: a mark stands for each."""
    found = suggest_escalation(f"\0\ud800{DENIED}read access to /a")
    assert found is not None
    assert found.reason == f"\ufffd\ufffd{DENIED}read access to /a"
