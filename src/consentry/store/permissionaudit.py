"""The log of escalation decisions in the store (ESCALATION AC6, AC7).

Logging records an event; the row of `permission_audit_log` follows from it in the same transaction.
"""

from collections.abc import Sequence
from typing import Final

from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.base.ids import IdSource
from consentry.decide.permissionaudit import EscalationDecision, PermissionAuditLogEntry
from consentry.record.envelope import Context
from consentry.record.events import EventType
from consentry.store.database import Row
from consentry.store.journal import About, Journal
from consentry.store.ledger import Ledger
from consentry.surface.permission_sets import PermissionSet

PREFIX: Final = "escalation"

_MILLISECONDS = 1000
_SELECT = (
    "SELECT id, timestamp, capability_id, from_set, to_set, approved, approved_by, reason, "
    "detected_operation FROM permission_audit_log"
)


class PermissionAuditStore:
    """Every decision about a larger permission set, approved or not."""

    def __init__(self, ledger: Ledger, ids: IdSource, clock: Clock, context: Context) -> None:
        self._journal = Journal(ledger, ids, clock, context)

    def log_escalation(self, entry: EscalationDecision) -> PermissionAuditLogEntry:
        """Records the decision; durable when it returns."""
        journal, now = self._journal, self._journal.clock.now()
        entry_id = journal.ids.new(PREFIX)
        about = About(f"capability:{entry.capability_id}", actor=entry.approved_by)
        event = EventType.PERMISSION_ESCALATION_DECIDED
        journal.ledger.append(journal.draft(event, about, entry.to_json(entry_id), now))
        return PermissionAuditLogEntry(
            id=entry_id,
            timestamp=Instant(now.unix_ms // _MILLISECONDS * _MILLISECONDS),
            capability_id=entry.capability_id,
            from_set=entry.from_set,
            to_set=entry.to_set,
            approved=entry.approved,
            approved_by=entry.approved_by,
            reason=entry.reason,
            detected_operation=entry.detected_operation,
        )

    def get_audit_log(self, capability_id: str | None = None) -> Sequence[PermissionAuditLogEntry]:
        """The log, oldest first, of one capability where it is named."""
        where, values = (
            ("", ()) if capability_id is None else (" WHERE capability_id = ?", (capability_id,))
        )
        query = f"{_SELECT}{where} ORDER BY timestamp, id"
        with self._journal.database.reading() as view:
            return [_entry(row) for row in view.rows(query, values)]


def _entry(row: Row) -> PermissionAuditLogEntry:
    id_, timestamp, capability_id, from_set, to_set, approved, approved_by, reason, operation = row
    try:
        return PermissionAuditLogEntry(
            id=str(id_),
            timestamp=Instant(int(timestamp or 0) * _MILLISECONDS),
            capability_id=str(capability_id),
            from_set=PermissionSet(str(from_set)),
            to_set=PermissionSet(str(to_set)),
            approved=bool(approved),
            approved_by=_optional(approved_by),
            reason=_optional(reason),
            detected_operation=_optional(operation),
        )
    except ValueError as problem:
        named = f"the row `{id_!s}` of `permission_audit_log`"
        message = f"{named} cannot be believed: {problem}"
        raise LedgerProblem(
            Code.LEDGER_CORRUPT, message, help_line="`consentry audit rebuild` fills the table anew"
        ) from problem


def _optional(value: object) -> str | None:
    return None if value is None else str(value)
