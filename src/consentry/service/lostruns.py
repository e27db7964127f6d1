"""Puts runs on record whose process was killed before it could: one entry per run, whatever happened.

A run is noted before its decision is recorded (`runningruns`). Whoever starts next finds the notes of
processes that are gone. A decision without a permit started nothing; a permit without an entry gets
one, from what the ledger says of it: that it was killed, and that what it read, printed and was refused
is not known. What it had committed is told by what is kept for undo, and what was asked for while it ran by
the requests.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.decide.permit import Permit
from consentry.enforce.keptshelf import UNDO, Shelf
from consentry.record.auditfields import ExecutionStatus
from consentry.record.events import EventType
from consentry.service.audit import whole_event
from consentry.service.consenting import consents_of
from consentry.service.heldrecord import lost_entries
from consentry.service.keptruns import Place
from consentry.service.runningruns import RunningRuns, RunNote
from consentry.service.runrecord import AUDIT_PREFIX
from consentry.store.history import EventFilter
from consentry.store.journal import About
from consentry.store.permits import StoredPermits
from consentry.store.requests import StoredRequests

_WHY: Final = "the process that ran it was killed; what it did is known as far as it is told here"


def record_lost_runs(place: Place) -> None:
    """To be called when a process starts to work here, after commits were recovered."""
    for decision_id, note in RunningRuns(place.state).cut_off():
        journal = place.journal
        permits = StoredPermits(journal.ledger, journal.ids, journal.clock, journal.context)
        permit = permits.of_decision(decision_id)
        row = place.history.find(decision_id)
        if permit is None or row is None or _is_recorded(place, permit):
            continue
        event = cast("Mapping[str, Any]", whole_event(row))
        now = journal.clock.now()
        entry = _entry(place, permit, event, note, now)
        draft = journal.draft(EventType.TOOL_AUDIT, About(permit.order.subject), entry, now)
        journal.ledger.append(draft)


def _is_recorded(place: Place, permit: Permit) -> bool:
    wanted = EventFilter(
        subject=permit.order.subject, type=EventType.TOOL_AUDIT.value, since=str(permit.made_at)
    )
    name = permit.permit_id.encode()
    return any(name in row.body for row in place.history.events(wanted))


def _entry(
    place: Place, permit: Permit, event: Mapping[str, Any], note: RunNote | None, at: Instant
) -> dict[str, Json]:
    decided = event["payload"]
    consent = decided.get("consent") or {}
    return {
        "id": place.journal.ids.new(AUDIT_PREFIX),
        "timestamp": str(at),
        "tool": _tool(permit, decided, consent),
        "user": _user(place, permit, event, consent),
        "execution": {
            "startTime": str(permit.spent_at),
            "endTime": None,
            "status": ExecutionStatus.KILLED.value,
            "exitCode": None,
            "signal": None,
            "limit": None,
            "problem": {"code": Code.INTERRUPTED.value, "message": _WHY},
        },
        "impact": {**_impact(place, permit), "held": _held(place, event)},
        "sandbox": {
            "profile": decided["profile"],
            "engine": "unknown",
            "violations": [],
            "violationsComplete": False,
            "resourceUsage": {"cpuTime": None, "memoryPeak": None},
            "controls": [],
            "programs": [],
            "network": [],
        },
        "context": {
            "workflowId": event.get("workflowId"),
            "sessionId": event.get("sessionId"),
            "triggeredBy": "user_command" if note is None else note.trigger,
            "workspace": None if note is None else note.workspace,
            "folder": None if note is None else note.folder,
        },
        "permitId": permit.permit_id,
    }


def _tool(
    permit: Permit, decided: Mapping[str, Any], consent: Mapping[str, Any]
) -> dict[str, Json]:
    # A tool's is a text, a capability's a number, and the code of a task has none.
    version = consent.get("version")
    said: dict[str, Json] = {
        "name": permit.order.subject.partition(":")[2] or permit.order.subject,
        "version": "unknown" if version is None else str(version),
        "arguments": list(decided["arguments"]),
    }
    if "auditConfig" in consent:
        said |= {"digest": consent["toolDigest"], "auditConfig": consent["auditConfig"]}
    return said


def _user(
    place: Place, permit: Permit, event: Mapping[str, Any], consent: Mapping[str, Any]
) -> dict[str, Json]:
    given = permit.made_at
    if "consentId" in consent:
        found = consents_of(place.journal).find(consent["consentId"])
        given = given if found is None else found.given_at
    names = {"level": "level", "consentId": "consentId", "requestId": "requestId"}
    names |= {"givenBy": "consentGivenBy", "reason": "reason"}
    return {
        "id": event["actor"],
        "consentGiven": True,
        "consentTimestamp": str(given),
        "consentMethod": event["payload"]["consentMethod"],
        **{said: consent[name] for name, said in names.items() if name in consent},
    }


def _impact(place: Place, permit: Permit) -> dict[str, Json]:
    kept = Shelf(place.state, UNDO).found(permit.permit_id)
    return {
        "filesRead": [],
        "filesWritten": [],
        "filesDeleted": [],
        "committed": kept is not None,
        "discarded": None,
        "filesReadSeen": False,
        "rehearsal": None,
        "undo": None if kept is None else {"until": str(kept.until), "why": None},
        "effectDigest": None,
        "filesReadUnlisted": 0,
    }


def _held(place: Place, event: Mapping[str, Any]) -> list[Json]:
    """What the run had asked for, in the session in which it was decided."""
    session = event.get("sessionId")
    if session is None:
        return []
    journal = place.journal
    requests = StoredRequests(journal.ledger, journal.ids, journal.clock, journal.context)
    return lost_entries(requests.of_session(session), event["eventId"])
