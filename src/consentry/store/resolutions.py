"""Resolutions of policy violations: recorded once for each violation, as an event and nothing else.

The event's subject is the violation, by which it is found again. Two people who resolve the same violation
at once are let in one after the other, and the second is told who was first. The event comes behind the
violation in time also where this machine's clock is behind that of the machine that recorded it.
"""

from typing import Final

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.record.chain import event_fields
from consentry.record.events import EventType
from consentry.store.database import Dialect, Transaction
from consentry.store.eventrows import chain_rows
from consentry.store.journal import About, Journal

_LOCK_CLASS: Final = 0x5167
_WHERE: Final = " WHERE subject = ? AND type = ? ORDER BY at, writer, seq LIMIT 1"


@dataclass(frozen=True, slots=True)
class Resolution:
    """What is said of a violation: why it could happen, and what was done about it."""

    violation_event_id: str
    root_cause: str
    corrective_action: str


def record_resolution(
    journal: Journal, resolution: Resolution, violated_at: Instant
) -> dict[str, Json]:
    """Records it; its payload with the id of its event. Raises where one was recorded before."""
    about = About(f"event:{resolution.violation_event_id}")
    at = max(journal.clock.now(), Instant(violated_at.unix_ms + 1))
    payload: dict[str, Json] = {
        "violationEventId": resolution.violation_event_id,
        "rootCause": resolution.root_cause,
        "correctiveAction": resolution.corrective_action,
        "resolvedBy": journal.context.actor,
        "resolvedAt": str(at),
    }
    draft = journal.draft(EventType.SIGNOFF_RESOLVED, about, payload, at)
    journal.record(draft, change=lambda transaction: _require_first(transaction, about.subject))
    return {"eventId": draft.event_id, **payload}


def _require_first(transaction: Transaction, subject: str) -> None:
    if transaction.dialect is Dialect.POSTGRESQL:
        lock = f"SELECT pg_advisory_xact_lock({_LOCK_CLASS}, hashtext(?))"
        transaction.run(lock, (subject,))
    found = chain_rows(transaction, _WHERE, (subject, EventType.SIGNOFF_RESOLVED.value))
    for row in found:
        fields = event_fields(row.body)
        payload = fields.get("payload")
        by = payload.get("resolvedBy") if isinstance(payload, dict) else None
        message = f"it was resolved by `{by}`, in `{fields.get('eventId')}`"
        raise Refused(Code.SIGNOFF_RESOLVED, message)
