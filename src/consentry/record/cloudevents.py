"""Events as CloudEvents 1.0 in the structured JSON form, so that any event router can carry them.

What is told in the envelope is told there for routing and finding again only; `data` holds the event
itself. Attributes of our own are `sequence`, `writer`, `hash`, `evidencechannel` and `redacted`.
`sequence` is a text with leading zeros, for it is sorted as one.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.errors import BadInput
from consentry.base.safetext import safe_line
from consentry.record.eventline import is_damaged

SPEC_VERSION: Final = "1.0"
JSON_TYPE: Final = "application/json"
_SEQUENCE_DIGITS = 16


def cloudevent(
    event: Mapping[str, Any], store_id: str, data: Json, data_content_type: str = JSON_TYPE
) -> dict[str, Any]:
    """An exported event (`eventline.document_of`), redacted or not, with `data` inside."""
    writer, seq = event.get("writer"), event.get("seq")
    kind = "damaged" if is_damaged(event) else event.get("type")
    told: dict[str, Any] = {
        "specversion": SPEC_VERSION,
        # A damaged event has no id that can be believed; its place is one.
        "id": _text(event.get("eventId")) or f"{_text(writer)}/{seq}",
        "source": f"urn:consentry:{_quoted(store_id)}:{_quoted(event.get('machineId') or writer)}",
        "type": f"consentry.{_text(kind) or 'unknown'}",
        "datacontenttype": data_content_type,
        "data": data,
    }
    optional = {
        "subject": _text(event.get("subject")),
        "time": _time(event.get("timestampUtc")),
        "evidencechannel": _text(event.get("evidenceChannel")),
        "writer": _text(writer),
        "hash": _text(event.get("hash")),
        "redacted": True if event.get("redacted") else None,
        "sequence": f"{seq:0{_SEQUENCE_DIGITS}}" if isinstance(seq, int) else None,
    }
    return told | {name: value for name, value in optional.items() if value}


def _text(value: object) -> str:
    # An attribute may hold no control characters and no half characters.
    return safe_line(value) if isinstance(value, str) else ""


def _quoted(value: object) -> str:
    return quote(value if isinstance(value, str) else "unknown", safe="", errors="replace")


def _time(value: object) -> str | None:
    try:
        return str(Instant.parse(value)) if isinstance(value, str) else None
    except BadInput:
        return None
