"""What is asked when a denial becomes a question: the request of ESCALATION, and its text.

A request is always a legal step, so none can lead to `trusted`, whoever makes it. Its reason is what
a program or an engine said and its id may be anybody's words: both are kept as they came, bounded,
and shown on one line each, so that no value can pass for a line of ours such as `[A]pprove`.

A request decides nothing. What is stored after a yes is written where the answer is written.
"""

import re
from typing import Final

from consentry.base.canonical import Digest, Json, digest_json
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass
from consentry.decide.fields import Fields, problem
from consentry.surface.permission_sets import PermissionSet, definition, require_legal_step

MOST_REASON: Final = 2000
"""So many characters of what was said are kept as the reason."""

_SHOWN_ID: Final = 200
_SHOWN_REASON: Final = 4 * MOST_REASON
_NOT_STORABLE: Final = re.compile("[\0\ud800-\udfff]")
_IN_ITS_PLACE: Final = "\ufffd"

_FIELDS: Final = (
    "capabilityId",
    "currentSet",
    "requestedSet",
    "reason",
    "detectedOperation",
    "confidence",
)

_TEXT: Final = """
=== Permission Escalation Request ===

Capability: {capability_id}
Current Permission Set: {current_set}
Requested Permission Set: {requested_set}

Reason: {reason}
Detected Operation: {detected_operation}
Confidence: {confidence}%

This capability attempted an operation that requires additional permissions.
Approving will permanently upgrade the capability's permission set.

[A]pprove permission escalation
[R]eject and abort execution
""".strip()


@dataclass(frozen=True, slots=True)
class PermissionEscalationRequest:
    """A step from one permission set to a larger one, why, and how sure it is that this helps."""

    capability_id: str
    current_set: PermissionSet
    requested_set: PermissionSet
    reason: str
    detected_operation: str
    confidence: float

    def __post_init__(self) -> None:
        # Sets may be given by name; what is kept is the set.
        current = PermissionSet.named(self.current_set)
        requested = PermissionSet.named(self.requested_set)
        object.__setattr__(self, "current_set", current)
        object.__setattr__(self, "requested_set", require_legal_step(current, requested))
        if not 0.0 <= self.confidence <= 1.0:
            raise problem("confidence", f"`{self.confidence}` does not lie between 0 and 1")

    def to_json(self) -> dict[str, Json]:
        """The fields under the names that ESCALATION gives them."""
        return {
            "capabilityId": self.capability_id,
            "currentSet": self.current_set.value,
            "requestedSet": self.requested_set.value,
            "reason": self.reason,
            "detectedOperation": self.detected_operation,
            "confidence": self.confidence,
        }

    @classmethod
    def from_json(cls, document: object) -> "PermissionEscalationRequest":
        """Reads what `to_json` writes."""
        fields = Fields(document, _FIELDS)
        return cls(
            capability_id=fields.text("capabilityId"),
            current_set=fields.member("currentSet", PermissionSet),
            requested_set=fields.member("requestedSet", PermissionSet),
            reason=fields.text("reason"),
            detected_operation=fields.text("detectedOperation"),
            confidence=_number(fields.value("confidence")),
        )


def format_escalation_request(request: PermissionEscalationRequest) -> str:
    """The text that a person is shown, as ESCALATION words it; every value is on one line."""
    return _TEXT.format(
        capability_id=safe_line(request.capability_id, limit=_SHOWN_ID),
        current_set=request.current_set.value,
        requested_set=request.requested_set.value,
        reason=safe_line(request.reason, limit=_SHOWN_REASON),
        detected_operation=safe_line(request.detected_operation, limit=_SHOWN_ID),
        confidence=_percent(request.confidence),
    )


def is_valid_escalation(from_set: PermissionSet | str, to_set: PermissionSet | str) -> bool:
    """Whether an escalation may lead from one set to the other; raises for an unknown set."""
    return PermissionSet.named(to_set) in definition(PermissionSet.named(from_set)).steps


def get_valid_escalation_targets(current_set: PermissionSet | str) -> tuple[PermissionSet, ...]:
    """The sets that an escalation may lead to from this one, the weakest first."""
    return definition(PermissionSet.named(current_set)).steps


def escalation_digest(execution_id: str, capability_id: str) -> Digest:
    """What the one escalation of an execution is found by, in any process and after any crash."""
    return digest_json({"capabilityId": capability_id, "executionId": execution_id})


def storable(text: str, most: int = MOST_REASON) -> str:
    """The text as canonical JSON and both databases take it, and no longer than that."""
    return _NOT_STORABLE.sub(_IN_ITS_PLACE, text[:most])


def _percent(confidence: float) -> int:
    # Half up, as `toFixed(0)` rounds; Python's own rounding takes the even neighbour.
    return int(confidence * 100 + 0.5)


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise problem("confidence", "this is not a number")
    return float(value)
