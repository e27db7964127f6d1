"""Reads the ledger for a report: once for what became of effects, once to count, once to list.

The ledger is followed first, because a report of a history that does not verify would vouch for it. Events
are read one by one and let go of; what is kept are counts. Entries in archives are not read.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass, field
from consentry.record.auditview import EFFECT_EVENTS, Fates, final_entry
from consentry.record.chain import ChainHead, ChainRow
from consentry.record.events import EventType
from consentry.record.report import Period, Report, Tally, is_listed
from consentry.service.audit import point_in_time, require_sound, whole_event
from consentry.store.history import EventFilter, History

USUAL_SPAN: Final = "30d"

# Stored bodies are canonical JSON, where a quote inside of a text is escaped: this is never text.
_MARKS: Final = {kind: f'"type":"{kind.value}"'.encode() for kind in EventType}


def asked_period(
    clock: Clock, since: str | None, start: str | None, end: str | None, tool: str | None
) -> Period:
    """As a person asked for it; times are read here, before anything is opened."""
    now = clock.now()
    if since is not None and start is not None:
        raise UsageProblem(
            Code.USAGE,
            "`--since` and `--from` both say where the report begins",
            help_line="leave one of the two out",
        )
    begins = point_in_time(since or start or USUAL_SPAN, clock)
    ends = now if end is None else min(now, point_in_time(end, clock))
    if ends <= begins:
        raise UsageProblem(
            Code.USAGE,
            f"the report would end at {ends.shown()}, before it begins at {begins.shown()}",
            help_line="name an earlier beginning, or a later end",
        )
    return Period(Instant(max(0, begins.unix_ms)), ends, now, tool)


@dataclass(slots=True)
class ReportSource:
    """What a report is made from; without a ledger there is nothing to count, which is an answer."""

    history: History | None
    period: Period
    heads: list[ChainHead] = field(default_factory=list)
    _fates: Fates = field(default_factory=Fates)

    def counted(self) -> Report:
        """The counts; raises where the ledger does not verify."""
        tally = Tally(self.period)
        if self.history is None:
            return tally.finished()
        self.heads = require_sound(self.history)
        # Without an end: what became of a run of the period may have been decided after it.
        for event in self._events(EventFilter(since=str(self.period.since)), EFFECT_EVENTS):
            self._fates.add(event)
        surfaces: dict[str, object] = {}
        for event in self._events(self._wanted, (EventType.PERMIT_MADE, EventType.TOOL_AUDIT)):
            payload = event["payload"]
            if event["type"] == EventType.PERMIT_MADE:
                surfaces[str(payload["permitId"])] = payload["surface"]
                continue
            surface = surfaces.pop(str(payload.get("permitId")), None)
            entry = self._final(payload)
            if tally.counts(entry):
                tally.add(entry, surface)
        return tally.finished()

    def listed(self) -> Iterator[dict[str, Any]]:
        """The entries whose tools want them in reports, oldest first; after the counting."""
        tally = Tally(self.period)
        if self.history is None:
            return
        for event in self._events(self._wanted, (EventType.TOOL_AUDIT,)):
            if is_listed(event["payload"]) and tally.counts(event["payload"]):
                yield self._final(event["payload"])

    @property
    def _wanted(self) -> EventFilter:
        return EventFilter(since=str(self.period.since), until=str(self.period.until))

    def _final(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        return final_entry(entry, self._fates.of(entry.get("permitId")), self.period.now)

    def _events(
        self, wanted: EventFilter, kinds: tuple[EventType, ...]
    ) -> Iterator[Mapping[str, Any]]:
        marks = [_MARKS[kind] for kind in kinds]
        if self.history is None:
            return
        for row in self.history.events(wanted):
            if _has_any(row, marks):
                event = cast("Mapping[str, Any]", whole_event(row))
                if event["type"] in kinds:
                    yield event


def _has_any(row: ChainRow, marks: list[bytes]) -> bool:
    return any(mark in row.body for mark in marks)
