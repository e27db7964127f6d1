"""The log of decisions about permission sets: every one, approved or not (ESCALATION AC6, AC7).

A decision about a code task has the task's id as its `capability_id` and holds for that run only;
the mark `ephemeral` stands in the ledger event, the log has the same columns for all.

    escalation   an approved one is a legal step, and none leads to `trusted`
    by hand      a legal step, a step to what the present set covers, or `trusted`; logged under
                 the operation `manual`, which no escalation can have
    refusal      nobody was asked: a ledger event of its own, and no row (ESCALATION §log-5)
"""

from collections.abc import Sequence
from typing import Final, Protocol

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.values import dataclass
from consentry.decide.fields import check_text, check_words, problem
from consentry.decide.identity import Identity, check_identity, check_person
from consentry.surface.permission_sets import PermissionSet, definition, require_legal_step

MANUAL: Final = "manual"
"""The operation that a change by hand is logged under."""


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
            self._require_step()

    def _require_step(self) -> None:
        if not self.is_by_hand:
            require_legal_step(self.from_set, self.to_set)
            return
        check_person("approvedBy", self.approved_by or "")
        if self.ephemeral:
            raise problem("ephemeral", "a set that is given by hand is stored")
        require_step_by_hand(self.from_set, self.to_set)

    @property
    def is_by_hand(self) -> bool:
        """Whether a person set it with a command of their own, and no code asked for it."""
        return self.detected_operation == MANUAL

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
class EscalationRefusal:
    """A denial that nobody is asked about, with the code that says why."""

    capability_id: str
    from_set: PermissionSet
    code: Code
    detected_operation: str
    reason: str
    execution_id: str
    resource: str | None = None
    ephemeral: bool = False

    def __post_init__(self) -> None:
        check_text("capabilityId", self.capability_id)
        check_text("detectedOperation", self.detected_operation)
        check_text("executionId", self.execution_id)

    def to_json(self, refusal_id: str) -> dict[str, Json]:
        """The fields as they are recorded."""
        return {
            "id": refusal_id,
            "capabilityId": self.capability_id,
            "fromSet": self.from_set.value,
            "code": self.code.value,
            "detectedOperation": self.detected_operation,
            "resource": self.resource,
            "reason": self.reason,
            "ephemeral": self.ephemeral,
            "executionId": self.execution_id,
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
    """Where decisions about permission sets are logged."""

    def log_escalation(self, entry: EscalationDecision) -> PermissionAuditLogEntry:
        """Records the decision; durable when it returns."""
        ...

    def log_refusal(self, refusal: EscalationRefusal) -> str:
        """Records that nobody was asked, and why; returns the id. There is no row of it."""
        ...

    def get_audit_log(
        self,
        capability_id: str | None = None,
        *,
        approved: bool | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        limit: int | None = None,
    ) -> Sequence[PermissionAuditLogEntry]:
        """The log, oldest first, of one capability where it is named; of `limit`, the newest ones."""
        ...


def require_step_by_hand(current: PermissionSet, wanted: PermissionSet) -> PermissionSet:
    """Returns the wanted set if a person may give it with a command, or raises `permission-step`.

    That is a legal step, `trusted`, or whatever the present set covers: less, or the same again.
    """
    if wanted is PermissionSet.TRUSTED or definition(wanted).surface <= definition(current).surface:
        return wanted
    return require_legal_step(current, wanted)
