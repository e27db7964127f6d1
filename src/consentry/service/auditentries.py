"""Hands out the audit entry that an id names, with what became of its effect since."""

from typing import Any

from consentry.base.clock import Instant
from consentry.record.auditview import Fate, Fates, final_entry
from consentry.service.audit import whole_event
from consentry.service.effectledger import subject_of_run
from consentry.service.runlookup import find_run
from consentry.service.runrecord import AUDIT_PREFIX
from consentry.store.history import EventFilter, History


def is_audit_id(named: str) -> bool:
    """Whether it is the id of an audit entry, or the beginning of one, and not that of an event."""
    return named.startswith(f"{AUDIT_PREFIX}-")


def entry_named(history: History | None, named: str, now: Instant) -> dict[str, Any]:
    """The entry with that id, or the beginning of an id that only one has; raises where none has."""
    _, entry = find_run(history, named)
    permit = entry.get("permitId")
    fate = None if history is None or permit is None else fate_of(history, str(permit))
    return final_entry(entry, fate, now)


def fate_of(history: History, permit_id: str) -> Fate | None:
    """What became of the effect of the run with that permit."""
    rows = history.events(EventFilter(subject=subject_of_run(permit_id)))
    return Fates(map(whole_event, rows)).of(permit_id)
