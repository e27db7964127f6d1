"""Follows chains of events and names the first event that does not belong where it stands.

Pure and in one pass: rows in, the first fault or the chains' heads out, with memory that does not
grow with their number. What it finds: a changed, dropped, repeated or moved event. What it cannot:
a tail that was cut off, or a chain written anew from the first event; only a checkpoint from before,
kept elsewhere, shows those.
"""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import NamedTuple

from consentry.base.canonical import Digest
from consentry.base.values import dataclass
from consentry.record.envelope import GENESIS, SCHEMA_VERSION


class ChainRow(NamedTuple):
    """One stored event: its place, its hash and the canonical JSON that the hash is over."""

    writer: str
    seq: int
    hash: str
    body: bytes


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The end of a chain as far as it was followed; `seq` 0 is before the first event."""

    writer: str
    seq: int
    hash: Digest


@dataclass(frozen=True, slots=True)
class ChainFault:
    """The first event that is not what the chain says, and why."""

    writer: str
    seq: int
    event_id: str | None
    why: str


def start_of(writer: str) -> ChainHead:
    """Where a chain begins."""
    return ChainHead(writer, 0, GENESIS)


def follow(rows: Iterable[tuple[str, int, str, bytes | None]]) -> dict[str, ChainHead] | ChainFault:
    """The head of every chain, or the first fault; rows come writer by writer, in order of `seq`.

    An archived event has no body any more: its hash alone stands for it, and what names that hash
    (the event behind it, and the record of the archive) is what binds it.
    """
    heads: dict[str, ChainHead] = {}
    writer, last, prev = None, 0, str(GENESIS)
    tail = b""
    # Written for speed: this loop runs once for every event there ever was.
    for row in rows:
        its_writer, seq, found, body = row
        if its_writer != writer:
            if writer is not None:
                heads[writer] = ChainHead(writer, last, Digest(prev))
            writer = its_writer
            tail = f'"writer":{json.dumps(writer)}}}'.encode()
            known = heads.get(writer, start_of(writer))
            last, prev = known.seq, known.hash
        if seq != last + 1:
            return _misplaced(its_writer, seq, body, last)
        if body is None:
            last, prev = seq, found
            continue
        if "sha256:" + sha256(body).hexdigest() != found:
            return _fault(its_writer, seq, body, "was changed: its bytes do not have its hash")
        link = f',"prev":"{prev}","schemaVersion":{SCHEMA_VERSION},"seq":{seq},'.encode()
        # Quotes inside strings are escaped, and behind the link stand only strings: the last of
        # these bytes begin it.
        quick = body.startswith(link, body.rfind(b',"prev":')) and body.endswith(tail)
        if not quick and not _says_so_itself(its_writer, seq, body, prev):
            why = "does not continue the chain: it names another event before it"
            return _fault(its_writer, seq, body, why)
        last, prev = seq, found
    if writer is not None:
        heads[writer] = ChainHead(writer, last, Digest(prev))
    return heads


def event_fields(body: bytes) -> Mapping[str, object]:
    """The event as JSON; a body that is not a JSON object has no fields."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _says_so_itself(writer: str, seq: int, body: bytes, prev: str) -> bool:
    fields = event_fields(body)
    return (fields.get("prev"), fields.get("seq"), fields.get("writer")) == (prev, seq, writer)


def _misplaced(writer: str, seq: int, body: bytes | None, last: int) -> ChainFault:
    if seq <= last:
        return _fault(writer, seq, body, f"stands behind event {last}: repeated or moved")
    return ChainFault(writer, last + 1, None, "is missing")


def _fault(writer: str, seq: int, body: bytes | None, why: str) -> ChainFault:
    event_id = None if body is None else event_fields(body).get("eventId")
    return ChainFault(writer, seq, event_id if isinstance(event_id, str) else None, why)
