"""What the audit commands ask of the ledger, and the documents they answer with."""

import json
from collections.abc import Iterator, Mapping

from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem, UsageProblem
from consentry.base.units import Duration
from consentry.base.values import dataclass
from consentry.record.chain import ChainFault, ChainHead, ChainRow, event_fields
from consentry.store.history import EventFilter, History


@dataclass(frozen=True, slots=True)
class LogRequest:
    """Which events are asked for, as the store filters them."""

    wanted: EventFilter

    @classmethod
    def asked_for(
        cls,
        clock: Clock,
        *,
        subject: str | None = None,
        type: str | None = None,  # noqa: A002 - the event's own word for it
        session: str | None = None,
        decision: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> "LogRequest":
        """As a person asked for them; times are read here, before anything is opened."""
        wanted = EventFilter(
            subject=subject,
            type=type,
            session_id=session,
            decision=decision,
            since=None if since is None else str(point_in_time(since, clock)),
            until=None if until is None else str(point_in_time(until, clock)),
        )
        return cls(wanted)


def point_in_time(text: str, clock: Clock) -> Instant:
    """A time as written, or a duration that means so long ago."""
    try:
        return Instant.parse(text)
    except BadInput:
        pass
    try:
        span = Duration.parse(text)
    except BadInput:
        raise UsageProblem(
            Code.TIMESTAMP,
            f"`{text}` is neither a time nor a span of time",
            help_line="write 2026-01-31T09:30:00Z, or 1day for so long ago",
        ) from None
    return Instant(clock.now().unix_ms - span.milliseconds)


def events_of(history: History, request: LogRequest) -> Iterator[Mapping[str, object]]:
    """The events that fit, oldest first, each with its hash; one by one."""
    return map(whole_event, history.events(request.wanted))


def latest_of(history: History, request: LogRequest, most: int) -> list[Mapping[str, object]]:
    """The latest of the events that fit, oldest first, each with its hash."""
    return [whole_event(row) for row in history.latest(request.wanted, most)]


def whole_event(row: ChainRow) -> Mapping[str, object]:
    """The event as one document, its hash included; a damaged one is refused."""
    fields = event_fields(row.body)
    if not fields:
        raise LedgerProblem(
            Code.CHAIN_BROKEN, f"event {row.seq} of `{row.writer}` cannot be read any more"
        )
    return {**fields, "hash": row.hash}


def event_named(history: History | None, event_id: str) -> Mapping[str, object]:
    """The event with that id; raises when there is none."""
    row = None if history is None else history.find(event_id)
    if row is not None:
        return whole_event(row)
    archive = None if history is None else history.archive_of(event_id)
    if archive is not None:
        raise UsageProblem(
            Code.EVENT_UNKNOWN,
            f"`{event_id}` is in the archive `{archive}`, not in the ledger any more",
            help_line="look for the id in the file of that archive: each line is one event",
        )
    raise UsageProblem(Code.EVENT_UNKNOWN, f"no event has the id `{event_id}`")


def require_sound(history: History) -> list[ChainHead]:
    """The heads of all chains, or `chain-broken` naming the first bad event."""
    found = history.verify()
    if isinstance(found, ChainFault):
        named = f" (`{found.event_id}`)" if found.event_id is not None else ""
        raise LedgerProblem(
            Code.CHAIN_BROKEN, f"event {found.seq}{named} of `{found.writer}` {found.why}"
        )
    return found


def pretty(event: Mapping[str, object]) -> str:
    """The event as indented JSON, pure ASCII, so that nothing in it can act on a terminal."""
    return _harmless(json.dumps(event, indent=2, sort_keys=True, ensure_ascii=True))


def in_ascii(document: Mapping[str, object]) -> str:
    """The same of a document whose keys have an order of their own."""
    return _harmless(json.dumps(document, indent=2, ensure_ascii=True))


def _harmless(text: str) -> str:
    return text.replace("\x7f", "\\u007f")
