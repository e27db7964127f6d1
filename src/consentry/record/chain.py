"""Follows chains of events and names the first event that does not belong where it stands.

Pure and in one pass: rows in, the first fault or the chains' heads out, with memory that does not
grow with their number. What it finds: a changed, dropped, repeated or moved event. What it cannot:
a tail that was cut off, or a chain written anew from the first event; only a checkpoint from before,
kept elsewhere, shows those.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from consentry.base.canonical import Digest
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


def follow(rows: Iterable[tuple[str, int, str, bytes]]) -> dict[str, ChainHead] | ChainFault:
    """The head of every chain, or the first fault; rows come writer by writer, in order of `seq`."""
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
            return _misplaced(ChainRow._make(row), last)
        if "sha256:" + sha256(body).hexdigest() != found:
            return _fault(ChainRow._make(row), "was changed: its bytes do not have its hash")
        link = f',"prev":"{prev}","schemaVersion":{SCHEMA_VERSION},"seq":{seq},'.encode()
        # Quotes inside strings are escaped, so these bytes are a key; a payload that has the same
        # key makes it necessary to read the whole event.
        quick = link in body and body.count(b',"prev":') == 1 and body.endswith(tail)
        if not quick and not _says_so_itself(ChainRow._make(row), prev):
            why = "does not continue the chain: it names another event before it"
            return _fault(ChainRow._make(row), why)
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


def _says_so_itself(row: ChainRow, prev: str) -> bool:
    fields = event_fields(row.body)
    said = (fields.get("prev"), fields.get("seq"), fields.get("writer"))
    return said == (prev, row.seq, row.writer)


def _misplaced(row: ChainRow, last: int) -> ChainFault:
    if row.seq <= last:
        return _fault(row, f"stands behind event {last}: repeated or moved")
    return ChainFault(row.writer, last + 1, None, "is missing")


def _fault(row: ChainRow, why: str) -> ChainFault:
    event_id = event_fields(row.body).get("eventId")
    return ChainFault(row.writer, row.seq, event_id if isinstance(event_id, str) else None, why)
