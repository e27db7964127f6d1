"""The log of escalation decisions in the store (ESCALATION AC6, AC7).

Logging records an event; the row of `permission_audit_log` follows from it in the same transaction.
Requests that end (`store.escalations`) and sets that change (`store.capabilities`) log with the change
itself; `log_escalation` is for a decision that was taken elsewhere. A refusal is an event and no row.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.base.ids import IdSource
from consentry.decide.capabilitycode import subject_of
from consentry.decide.permissionaudit import (
    EscalationDecision,
    EscalationRefusal,
    PermissionAuditLogEntry,
)
from consentry.record.envelope import Context, Draft
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
        subject = subject_of(entry.capability_id, ephemeral=entry.ephemeral)
        about = About(subject, actor=entry.approved_by)
        draft = decision_draft(journal, entry, about, now)
        journal.ledger.append(draft)
        return PermissionAuditLogEntry(
            id=str(draft.payload["id"]),
            timestamp=Instant(now.unix_ms // _MILLISECONDS * _MILLISECONDS),
            capability_id=entry.capability_id,
            from_set=entry.from_set,
            to_set=entry.to_set,
            approved=entry.approved,
            approved_by=entry.approved_by,
            reason=entry.reason,
            detected_operation=entry.detected_operation,
        )

    def log_refusal(self, refusal: EscalationRefusal) -> str:
        """Records that nobody was asked, and why; returns the id. There is no row of it."""
        journal, now = self._journal, self._journal.clock.now()
        refusal_id = journal.ids.new(PREFIX)
        about = About(subject_of(refusal.capability_id, ephemeral=refusal.ephemeral))
        event = EventType.PERMISSION_ESCALATION_REFUSED
        journal.ledger.append(journal.draft(event, about, refusal.to_json(refusal_id), now))
        return refusal_id

    def get_audit_log(
        self,
        capability_id: str | None = None,
        *,
        approved: bool | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        limit: int | None = None,
    ) -> Sequence[PermissionAuditLogEntry]:
        """The log, oldest first, of one capability where it is named; of `limit`, the newest ones.

        Times are compared in whole seconds, as the log has them; both ends are within.
        """
        wanted = {
            "capability_id = ?": capability_id,
            "approved = ?": None if approved is None else int(approved),
            "timestamp >= ?": None if since is None else since.unix_ms // _MILLISECONDS,
            "timestamp <= ?": None if until is None else until.unix_ms // _MILLISECONDS,
        }
        named = {clause: value for clause, value in wanted.items() if value is not None}
        where = " AND ".join(named) or "1 = 1"
        most = "" if limit is None else f" LIMIT {max(0, int(limit))}"
        query = f"{_SELECT} WHERE {where} ORDER BY timestamp DESC, id DESC{most}"
        with self._journal.database.reading() as view:
            found = [_entry(row) for row in view.rows(query, tuple(named.values()))]
        return found[::-1]


def decision_draft(
    journal: Journal,
    entry: EscalationDecision,
    about: About,
    now: Instant,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Draft:
    """The event of a decision, which makes its row; `names` are the request and execution behind it."""
    payload = {**entry.to_json(journal.ids.new(PREFIX)), **names}
    return journal.draft(EventType.PERMISSION_ESCALATION_DECIDED, about, payload, now)


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
