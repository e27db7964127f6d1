"""How a saved capability is told: the set it runs in and why, what speaks for it, and as a document."""

from collections.abc import Iterator

from consentry.base.safetext import safe_line
from consentry.cli.hanging import hanging
from consentry.decide.capabilities import (
    PERMISSION_CONFIDENCE_THRESHOLD,
    Capability,
    CapabilityHead,
    PermissionSource,
    determine_permission_set,
)
from consentry.decide.escalationdelta import added_in_words
from consentry.surface.permission_sets import PermissionSet, definition

MOST_PATTERNS = 12
_LABEL = 10
_DECIDED = 1.0


def why_that_set(capability: CapabilityHead) -> str:
    """Why it runs in the set that it runs in, as part of a sentence."""
    stored, confidence = capability.permission_set, capability.permission_confidence
    is_by_hand = capability.permission_source is PermissionSource.MANUAL
    if is_by_hand or confidence == _DECIDED:
        return "a person decided so, for this code"
    if confidence == 0:
        return f"the code could not be read as {capability.language}, so nothing was inferred"
    if determine_permission_set(capability) is not stored:
        return (
            f"`{stored}` was inferred with confidence {confidence:.2f}, "
            f"and below {PERMISSION_CONFIDENCE_THRESHOLD} a guess opens nothing"
        )
    return f"inferred with confidence {confidence:.2f}"


def set_lines(capability: Capability) -> Iterator[str]:
    """The set in which it runs, why, what that does, and what in the code speaks for it."""
    runs_in = determine_permission_set(capability)
    yield from row("runs in", f"{runs_in}: {why_that_set(capability)}")
    yield from row("", definition(runs_in).summary)
    if capability.detected_patterns:
        yield from row("found", _patterns(capability.detected_patterns))


def row(label: str, text: str) -> list[str]:
    """One row of an answer: our label, and a text that is made safe."""
    return hanging(f"  {label:<{_LABEL}}", safe_line(text))


def opened_beyond(before: PermissionSet, after: PermissionSet) -> list[str]:
    """What one set opens beyond another, a power in each line."""
    if after is PermissionSet.TRUSTED and before is not after:
        return [definition(after).summary]
    return list(added_in_words(before, after))


def document_of(capability: CapabilityHead, *, code: bool = False) -> dict[str, object]:
    """The capability in JSON, with the set that it runs in; its code only where that is asked for."""
    document: dict[str, object] = dict(capability.to_json())
    if not code:
        document.pop("code", None)
    return {
        **document,
        "effectiveSet": determine_permission_set(capability).value,
        "because": why_that_set(capability),
    }


def _patterns(found: tuple[str, ...]) -> str:
    shown = ", ".join(found[:MOST_PATTERNS])
    more = len(found) - MOST_PATTERNS
    return f"{shown} and {more} more" if more > 0 else shown
