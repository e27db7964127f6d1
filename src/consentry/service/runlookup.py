"""Finds the record of a run: the latest, or the one that an id names."""

from collections.abc import Mapping
from typing import Any, Final, cast

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.record.events import EventType
from consentry.service.audit import whole_event
from consentry.store.history import EventFilter, History

_RUNS: Final = EventFilter(type=EventType.TOOL_AUDIT.value)


def find_run(history: History | None, named: str | None) -> tuple[str, Mapping[str, Any]]:
    """The id of the event and its entry; `named` is the id of the entry, its event or its permit."""
    if history is None:
        raise UsageProblem(Code.RUN_UNKNOWN, "no run was recorded here yet")
    if named is None:
        for row in history.latest(_RUNS, 1):
            return _event_and_entry(whole_event(row))
        raise UsageProblem(Code.RUN_UNKNOWN, "no run was recorded here yet")
    # Newest first is not how the store reads, and the id stands in the payload: all are looked at.
    wanted = named.encode("utf-8", "surrogateescape")
    for row in history.events(_RUNS):
        if wanted in row.body:
            event_id, entry = _event_and_entry(whole_event(row))
            if named in (event_id, entry["id"], entry.get("permitId")):
                return event_id, entry
    raise UsageProblem(Code.RUN_UNKNOWN, f"no run has the id `{named}`")


def _event_and_entry(event: Mapping[str, object]) -> tuple[str, Mapping[str, Any]]:
    return str(event["eventId"]), cast("Mapping[str, Any]", event["payload"])
