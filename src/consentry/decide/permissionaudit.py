"""The log of escalation decisions: every one, approved or not (ESCALATION AC6, AC7).

A decision about a code task has the task's id as its `capability_id` and holds for that run only;
the mark `ephemeral` stands in the ledger event, the log has the same columns for all.
"""

from collections.abc import Sequence
from typing import Protocol

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.values import dataclass
from consentry.decide.fields import check_text, check_words, problem
from consentry.decide.identity import Identity, check_identity
from consentry.surface.permission_sets import PermissionSet, require_legal_step


@dataclass(frozen=True, slots=True)
class EscalationDecision:
    """What was decided about one step from one permission set to another."""

    capability_id: str
    from_set: PermissionSet
    to_set: PermissionSet
    approved: bool
    approved_by: Identity | None
    reason: str | None = None
    detected_operation: str | None = None
    ephemeral: bool = False

    def __post_init__(self) -> None:
        check_text("capabilityId", self.capability_id)
        check_words("reason", self.reason)
        if self.detected_operation is not None:
            check_text("detectedOperation", self.detected_operation)
        if self.approved_by is not None:
            check_identity("approvedBy", self.approved_by)
        if self.approved:
            if self.approved_by is None:
                raise problem("approvedBy", "an approval says who approved")
            require_legal_step(self.from_set, self.to_set)

    def to_json(self, entry_id: str) -> dict[str, Json]:
        """The fields as they are recorded."""
        return {
            "id": entry_id,
            "capabilityId": self.capability_id,
            "fromSet": self.from_set.value,
            "toSet": self.to_set.value,
            "approved": self.approved,
            "approvedBy": self.approved_by,
            "reason": self.reason,
            "detectedOperation": self.detected_operation,
            "ephemeral": self.ephemeral,
        }


@dataclass(frozen=True, slots=True)
class PermissionAuditLogEntry:
    """One row of the log, under the names of its columns; the time is in whole seconds."""

    id: str
    timestamp: Instant
    capability_id: str
    from_set: PermissionSet
    to_set: PermissionSet
    approved: bool
    approved_by: str | None
    reason: str | None
    detected_operation: str | None


class PermissionAudit(Protocol):
    """Where escalation decisions are logged."""

    def log_escalation(self, entry: EscalationDecision) -> PermissionAuditLogEntry:
        """Records the decision; durable when it returns."""
        ...

    def get_audit_log(self, capability_id: str | None = None) -> Sequence[PermissionAuditLogEntry]:
        """The log, oldest first, of one capability where it is named."""
        ...
