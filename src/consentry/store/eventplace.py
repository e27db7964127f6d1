"""Where an event stands, known by its id; also one that was archived, which has left its place behind."""

from typing import NamedTuple

from consentry.base.canonical import Digest
from consentry.store.database import Database

_PLACES = (
    "SELECT writer, seq, hash FROM ledger_event WHERE event_id = ? "
    "UNION ALL SELECT writer, seq, hash FROM archived_event WHERE event_id = ?"
)


class EventPlace(NamedTuple):
    """The place of one event in its writer's chain, and its hash."""

    writer: str
    seq: int
    hash: Digest


def place_of(database: Database, event_id: str) -> EventPlace | None:
    """The place of the event with this id; None when there never was one."""
    with database.reading() as view:
        for writer, seq, found in view.rows(_PLACES, (event_id, event_id)):
            return EventPlace(str(writer), int(seq or 0), Digest(str(found)))
    return None
