"""The check that stands between a payload and the ledger: the fields of its type, each as it must be.

What is recorded can be relied on by whoever reads it years later, so nothing is recorded that lacks
a field or has the wrong thing in it. The error names the event's type and the field.
"""

from collections.abc import Mapping
from typing import Final

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.record.events import EventGroup, EventType

_FITS: Final = {event: event.shape.fits for event in EventType}
_REPEATED_TIME: Final = {
    **{event: "timestampUtc" for event in EventType if event.group is EventGroup.MODULES},
    EventType.TRANSACTION_TRANSITION: "timestamp",
}
_REPEATED_ID: Final = {event: "eventId" for event in EventType if event.group is EventGroup.MODULES}


def check_payload(event_type: EventType, payload: Mapping[str, Json]) -> None:
    """Raises unless the payload has every field of the type, each of its kind."""
    try:
        is_object = _FITS[event_type](payload)
    except BadInput as problem:
        where = (problem.where or Where()).within("payload")
        raise _refused(event_type, problem.message, where) from None
    if not is_object:
        raise _refused(event_type, "must have an object here", Where(field="payload"))


def check_repeats(
    event_type: EventType, payload: Mapping[str, Json], event_id: str, timestamp: Instant
) -> None:
    """Raises where a checked payload repeats the envelope's id or time and says another."""
    check_repeated_text(event_type, payload, event_id, str(timestamp))


def check_repeated_text(
    event_type: EventType, payload: Mapping[str, Json], event_id: str, timestamp: str
) -> None:
    """The same for a time as it is written in the event."""
    time_field = _REPEATED_TIME.get(event_type)
    if time_field is None:
        return
    if payload[time_field] != timestamp:
        message = "must have the event's own time here"
        raise _refused(event_type, message, Where(field=f"payload.{time_field}"))
    id_field = _REPEATED_ID.get(event_type)
    if id_field is not None and payload[id_field] != event_id:
        message = "must have the event's own id here"
        raise _refused(event_type, message, Where(field=f"payload.{id_field}"))


def _refused(event_type: EventType, message: str, where: Where) -> BadInput:
    return BadInput(Code.EVENT_FIELD, f"an event of type `{event_type}` {message}", where=where)
