"""The events behind what a module was granted: asked for, decided, given, ended, used, refused.

Read by the module's subject, which is indexed, one by one: what is kept of them is the last few of each
sort and their number, however many there are.

The six events of MODULES do not name the host. Where several hosts have a module of the same id, events of
the others stand among those that are told.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

from consentry.base.canonical import Json, canonical_json
from consentry.base.clock import Instant
from consentry.base.values import dataclass
from consentry.decide.capabilityask import subject_of
from consentry.record.chain import ChainRow, event_fields
from consentry.record.events import EventType
from consentry.store.grants import grants_where
from consentry.store.history import EventFilter, History
from consentry.store.journal import Journal


class Sort(StrEnum):
    """What an event is, among those that explain a grant."""

    DECISION = "decision"
    REJECTION = "rejection"
    USE = "use"


SORTS: Final = {
    EventType.ESCALATION_REQUESTED.value: Sort.DECISION,
    EventType.ESCALATION_APPROVED.value: Sort.DECISION,
    EventType.ESCALATION_DENIED.value: Sort.DECISION,
    EventType.GRANT_GIVEN.value: Sort.DECISION,
    EventType.GRANT_REVOKED.value: Sort.DECISION,
    EventType.CHECK_REJECTED.value: Sort.REJECTION,
    EventType.MODULE_CAPABILITY_USED.value: Sort.USE,
}
"""The events that explain a grant, by their type."""

_ENDS_A_GRANT: Final = canonical_json(EventType.GRANT_REVOKED.value)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which capability of which module in which host is asked about; `event_id` where by an event."""

    host_id: str
    module_id: str
    capability_id: str
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class TrailEvent:
    """One event behind it."""

    event_id: str
    at: Instant
    type: str
    session_id: str | None
    payload: Mapping[str, Any]

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {
            "eventId": self.event_id,
            "timestampUtc": str(self.at),
            "type": self.type,
            "sessionId": self.session_id,
            "payload": dict(self.payload),
        }


@dataclass(frozen=True, slots=True)
class Trail:
    """The last events of each sort, in their order, and how many there are of each."""

    events: tuple[TrailEvent, ...]
    counts: Mapping[Sort, int]


def trail_of(journal: Journal, wanted: Wanted, most: int) -> Trail:
    """What led to how the capability stands; and the event that was asked about, however old it is."""
    kept: dict[Sort, deque[tuple[int, TrailEvent]]] = {sort: deque(maxlen=most) for sort in Sort}
    counts = dict.fromkeys(Sort, 0)
    needle = canonical_json(wanted.capability_id)
    asked_about: list[tuple[int, TrailEvent]] = []
    found = History(journal.database).events(EventFilter(subject=subject_of(wanted.module_id)))
    for place, row in enumerate(found):
        # Most events of a module are about something else, and need not be parsed to be left out.
        if needle not in row.body and _ENDS_A_GRANT not in row.body:
            continue
        event = _told(row)
        if event is None or not _is_meant(journal, wanted, event, kept[Sort.DECISION]):
            continue
        sort = SORTS[event.type]
        counts[sort] += 1
        kept[sort].append((place, event))
        if event.event_id == wanted.event_id:
            asked_about.append((place, event))
    all_kept = {place: event for each in (*kept.values(), asked_about) for place, event in each}
    return Trail(tuple(all_kept[place] for place in sorted(all_kept)), counts)


def _told(row: ChainRow) -> TrailEvent | None:
    """The event, if it is of a sort that explains a grant; a damaged one is none."""
    event = event_fields(row.body)
    payload, kind = event.get("payload"), event.get("type")
    if not isinstance(payload, dict) or kind not in SORTS:
        return None
    session = event.get("sessionId")
    return TrailEvent(
        str(event["eventId"]),
        Instant.parse(str(event["timestampUtc"])),
        str(kind),
        None if session is None else str(session),
        payload,
    )


def _is_meant(
    journal: Journal, wanted: Wanted, event: TrailEvent, told: Iterable[tuple[int, TrailEvent]]
) -> bool:
    """Whether it is about this capability in this host."""
    payload = event.payload
    if event.type != EventType.GRANT_REVOKED.value:
        is_here = payload.get("hostId", wanted.host_id) == wanted.host_id
        return is_here and payload.get("capabilityId") == wanted.capability_id
    grant_id = payload.get("grantId")
    for ended in grants_where(journal, "grant_id = ?", (str(grant_id),)):
        terms = ended.terms
        return (terms.host_id, terms.capability_id) == (wanted.host_id, wanted.capability_id)
    # Purged since: then what was told of its giving says what it was for.
    return any(each.payload.get("grantId") == grant_id for _, each in told)
