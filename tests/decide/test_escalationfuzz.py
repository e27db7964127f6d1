"""No text makes the suggestion raise, take long, or go beyond `mcp-standard` (ESCALATION AC2).

Ten thousand texts in the small size and a million in the full one, put together from the wordings
themselves: broken, repeated, coloured, cut, and with characters that no name has.
"""

from random import Random

import pytest

from consentry.base.canonical import canonical_json
from consentry.decide.escalation import (
    PermissionEscalationRequest,
    format_escalation_request,
    is_valid_escalation,
    suggest_escalation,
)
from consentry.surface.permission_sets import PermissionSet
from tests.store.sizes import IS_FULL

TEXTS = 1_000_000 if IS_FULL else 10_000
LINES = 15
"""Of the text that a person is shown, whatever was in the error."""

OPERATIONS = ("read", "write", "net", "env", "run", "ffi", "sys", "import", "fly", "READ", "")
RESOURCES = (
    "/etc/passwd", "data/a", "./data/../x", "/tmp/a b", "api.example.com:443", "[::1]:443", "*",
    "host:99999", "<TMP>", "HOME", "AWS_*", "..", "/", "//", "~/.ssh", "\0", "\ud800", "\udcff",
    "é", "\n", "a'b", 'a"b', "\\x41\\", "1" * 300, "unix:/run/x", "any", "name lookup", "%", "::",
)  # fmt: skip
PARTS = (
    "PermissionDenied: ", "NotCapable: ", "PermissionError: ", "Requires ", " access", " to ", "to",
    '"', "'", "`", ", run again with the --allow-", "read flag", ", run again with --allow-net", "\n",
    "[Errno 13] Permission denied: ", "[Errno 30] Read-only file system: ", "[Errno 1] X y: ", " -> ",
    "\x1b[31m", "\x1b[", "\x1b", "\r", "\t", "\x00", "\u202e", "\ud83d", "😀", "b'", "\\", "at x:1",
    "[A]pprove permission escalation", "\n\nCapability: safe\n",
)  # fmt: skip
WORKSPACES = (None, "/place/project", "relative", "/", "")


def made_up(chance: Random) -> str:
    """A text that is likely to speak of denials, rightly or not."""
    parts = []
    for _ in range(chance.randrange(1, 6)):
        if chance.random() < 0.5:
            quote = chance.choice(("", '"', "'", ""))
            parts.append(
                f"Requires {chance.choice(OPERATIONS)} access to {quote}{chance.choice(RESOURCES)}{quote}"
            )
        else:
            parts.append(chance.choice(PARTS))
            parts.append(chance.choice((*RESOURCES, *PARTS)))
    text = "".join(parts)
    if chance.random() < 0.2:
        cut = chance.randrange(len(text) + 1)
        text = text[:cut] + chr(chance.randrange(0x110000)) + text[cut + 1 :]
    return text


def require_sound(found: PermissionEscalationRequest, error: str, current: PermissionSet) -> None:
    """Raises unless it is a suggestion that may be made of that text."""
    assert is_valid_escalation(current, found.requested_set)
    assert found.requested_set is not PermissionSet.TRUSTED
    assert found.detected_operation in {"read", "write", "net", "env"}
    assert found.confidence in {0.95, 0.85, 0.75, 0.60}
    assert "Requires run access" not in error
    assert "Requires ffi access" not in error
    canonical_json(found.to_json())
    assert format_escalation_request(found).count("\n") == LINES - 1


@pytest.mark.timeout(1200)
def test_no_text_goes_wrong() -> None:
    """Never raises, never beyond `mcp-standard`, never for `run` or `ffi`."""
    chance, suggestions = Random(20260101), 0  # noqa: S311 - the same texts each time
    sets = list(PermissionSet)
    for number in range(TEXTS):
        error, current = made_up(chance), sets[number % len(sets)]
        found = suggest_escalation(error, "cap", current, chance.choice(WORKSPACES))
        if found is not None:
            suggestions += 1
            require_sound(found, error, current)
    assert suggestions > TEXTS // 50, "the texts are hardly ever about denials"


@pytest.mark.parametrize(
    "unit",
    [
        'Requires read access to "',
        "Requires read access to ",
        "[Errno 13] Permission denied: '",
        "[Errno 13] Permission denied: '" + "a" * 4090,
        "[Errno 13] Aaaa: ",
        "Requires a",
        "\x1b[",
        "\\",
        "x",
        "\n",
    ],
)
def test_ten_megabytes_of_it_are_read(unit: str) -> None:
    """In time in proportion to the length: what takes longer meets the limit of a test."""
    text = unit * (10_000_000 // len(unit))
    for error in (text, "Requires " + text, "[Errno 13] Permission denied: '" + text):
        found = suggest_escalation(error)
        assert found is None or len(found.reason) <= 2000
