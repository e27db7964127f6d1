"""Finds the record of a run: the latest, the latest rehearsal, or the one that an id names."""

from collections.abc import Mapping
from typing import Any, Final, cast

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.record.events import EventType
from consentry.service.audit import whole_event
from consentry.store.history import EventFilter, History

_RUNS: Final = EventFilter(type=EventType.TOOL_AUDIT.value)
_AT_A_TIME: Final = 100
_LEAST_PREFIX: Final = 8
_REHEARSAL: Final = b'"rehearsal":{'


def find_run(history: History | None, named: str | None) -> tuple[str, Mapping[str, Any]]:
    """The id of the event and its entry.

    `named` is the id of the entry, its event or its permit, or the beginning of one of these that
    only one run has.
    """
    if history is None:
        raise _nothing_yet()
    if named is None:
        for row in history.latest(_RUNS, 1):
            return _event_and_entry(whole_event(row))
        raise _nothing_yet()
    # Newest first is not how the store reads, and the id stands in the payload: all are looked at.
    wanted = named.encode("utf-8", "surrogateescape")
    alike: list[tuple[str, Mapping[str, Any]]] = []
    for row in history.events(_RUNS):
        if wanted in row.body:
            event_id, entry = _event_and_entry(whole_event(row))
            ids = (event_id, str(entry["id"]), str(entry.get("permitId")))
            if named in ids:
                return event_id, entry
            if len(named) >= _LEAST_PREFIX and any(each.startswith(named) for each in ids):
                alike.append((event_id, entry))
    if len(alike) > 1:
        raise UsageProblem(Code.RUN_AMBIGUOUS, f"{len(alike)} runs have an id like `{named}`")
    if alike:
        return alike[0]
    raise UsageProblem(Code.RUN_UNKNOWN, f"no run has the id `{named}`")


def last_rehearsal(history: History | None) -> Mapping[str, Any]:
    """The entry of the latest run that was a rehearsal."""
    most = _AT_A_TIME
    while history is not None:
        rows = list(history.latest(_RUNS, most))
        for row in reversed(rows):
            if _REHEARSAL in row.body:
                return _event_and_entry(whole_event(row))[1]
        if len(rows) < most:
            break
        most *= _AT_A_TIME
    raise UsageProblem(Code.RUN_UNKNOWN, "no rehearsal was recorded here yet")


def _nothing_yet() -> UsageProblem:
    return UsageProblem(Code.RUN_UNKNOWN, "no run was recorded here yet")


def _event_and_entry(event: Mapping[str, object]) -> tuple[str, Mapping[str, Any]]:
    return str(event["eventId"]), cast("Mapping[str, Any]", event["payload"])
