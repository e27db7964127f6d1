"""From a denial's text to a suggested step between permission sets (ESCALATION AC2, AC8).

`suggest_escalation` is a pure function of the text. It looks at no file and asks no engine; whether
the suggested set would open the very thing that was denied is for `escalationreach` to say.

    read     the least set whose roots cover the path: under `./data` or `/tmp` `readonly`,
             anywhere else `filesystem`
    write    `filesystem`; from there only `./output` leads further
    net      `network-api`; from a set with files, `mcp-standard`
    env      `mcp-standard`
    run, ffi never anything, whatever else the text speaks of

Rules kept: a suggestion is a legal step and never `trusted`. Of several denials in one text, the step
opens the kinds of all of them, or there is none. The operation that is named is the first one that the
present set does not have. A `PermissionError` of Python does not say whether it read or wrote: it is
taken for a read, and for a write where the present set reads that place already. No text raises, and
none takes more time than in proportion to its length; a text with very many denials is nobody's error
message and suggests nothing.
"""

from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Final

from consentry.base.values import dataclass
from consentry.decide.escalationneed import confidence_in, has_kind, said_surely, would_have
from consentry.decide.escalationrequest import (
    MOST_REASON,
    PermissionEscalationRequest,
    escalation_digest,
    format_escalation_request,
    get_valid_escalation_targets,
    is_valid_escalation,
    storable,
)
from consentry.examine.denialtext import DeniedText, denials_in, python_denials_in
from consentry.surface.operations import Operation
from consentry.surface.permission_sets import PermissionSet, definition

__all__ = [
    "CRITICAL",
    "PermissionEscalationRequest",
    "denials_said",
    "escalation_digest",
    "format_escalation_request",
    "get_valid_escalation_targets",
    "is_valid_escalation",
    "reason_of",
    "suggest_escalation",
    "suggested_step",
]

CRITICAL: Final = (Operation.RUN, Operation.FFI)
"""What no escalation opens, whoever asks and whoever would agree."""

MOST_DENIALS: Final = 64
"""A text with more than so many denials is not read."""

_MARKS: Final = ("Requires ", "[Errno ")
_BEFORE_DENIAL: Final = 200


@dataclass(frozen=True, slots=True)
class Step:
    """A step that denials ask for: to which set, for which operation, and how surely."""

    to_set: PermissionSet
    operation: Operation
    confidence: float


def suggest_escalation(
    error: str,
    capability_id: str = "",
    current_set: PermissionSet | str = PermissionSet.MINIMAL,
    workspace: str | Path | None = None,
) -> PermissionEscalationRequest | None:
    """The step that the denials in `error` ask for, or None where no step is to be suggested.

    Paths are relative to `workspace`; where it is not known, an absolute path lies outside of it.
    Raises `permission-set` for a set that there is not, and nothing else.
    """
    current = PermissionSet.named(current_set)
    denials = denials_said(error)
    if not denials:
        return None
    step = suggested_step(denials, current, None if workspace is None else str(workspace))
    if step is None:
        return None
    return PermissionEscalationRequest(
        capability_id=capability_id,
        current_set=current,
        requested_set=step.to_set,
        reason=reason_of(error),
        detected_operation=step.operation.value,
        confidence=step.confidence,
    )


def denials_said(error: str) -> tuple[DeniedText, ...]:
    """The denials that the text speaks of, in whosever words; none where there are too many."""
    if not any(mark in error for mark in _MARKS):
        return ()
    said = chain(denials_in(error), python_denials_in(error))
    found = tuple(islice(said, MOST_DENIALS + 1))
    return () if len(found) > MOST_DENIALS else found


def suggested_step(
    denials: Sequence[DeniedText], current: PermissionSet, workspace: str | None
) -> Step | None:
    """The least legal step that has the kinds of all these denials; None where there is none."""
    if any(each.operation in CRITICAL for each in denials):
        return None
    said = [said_surely(each, current, workspace) for each in denials]
    missing = [each for each in said if not has_kind(current, each, workspace)]
    for step in definition(current).steps if missing else ():
        if all(would_have(step, each, workspace) for each in said):
            confidence = min(confidence_in(each, workspace) for each in said)
            return Step(step, missing[0].operation, confidence)
    return None


def reason_of(error: str) -> str:
    """What was said, bounded: of a long text the part around its first denial."""
    if len(error) <= MOST_REASON:
        return storable(error)
    places = [at for mark in _MARKS if (at := error.find(mark)) >= 0]
    return storable(error[max(0, min(places, default=0) - _BEFORE_DENIAL) :])
