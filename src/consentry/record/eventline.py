"""The one line form of a stored event, in exports and archives: canonical JSON with its `hash`.

A stored event is a body, the canonical JSON that its hash is over, and the hash beside it. Its line
is the canonical JSON of the same event with the key `hash` added. Taking that key out again and
encoding canonically gives the body back, byte for byte, in any language that has RFC 8785.

A body that is no such JSON (it was damaged in the store) has a line, too, so that nothing is lost:

    {"bodyBase64": "…", "damaged": true, "hash": "…", "seq": 7, "writer": "…"}

Laws, proven by the tests: `row_of(line_of(row))` is the row, for every row there can be; and no
other line gives that row.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from consentry.base.canonical import canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.record.chain import ChainRow
from consentry.record.fields import (
    check_digest,
    parse_document,
    read_object,
    whole_or_double,
)

HASH: Final = "hash"
DAMAGED: Final = "damaged"
BODY: Final = "bodyBase64"

_DAMAGED_FIELDS = (BODY, DAMAGED, HASH, "seq", "writer")
_BEHIND_HASH = "machineId"
_SLOT = b',"machineId":'


def line_of(row: ChainRow) -> bytes:
    """The line of an event, without a line feed."""
    event = event_in(row)
    if event is None:
        return _damaged_line(row)
    if _has_slot(event):
        # Quotes inside a text are escaped, so the first such bytes are the key itself.
        before, slot, behind = row.body.partition(_SLOT)
        return before + _hash_part(row.hash) + slot + behind
    return canonical_json({**event, HASH: row.hash})


def row_of(line: bytes, number: int) -> ChainRow:
    """The event of a line; `number` is that of the line, for the message when it is not one."""
    try:
        document = parse_document(line, Code.ARCHIVE, whole=whole_or_double)
        if not isinstance(document, dict):
            _refuse("this is not a JSON object")
        return _damaged_row(line) if DAMAGED in document else _whole_row(document, line)
    except BadInput as problem:
        where = problem.where or Where()
        raise BadInput(
            Code.ARCHIVE, problem.message, where=Where(line=number, field=where.field)
        ) from None


def document_of(row: ChainRow) -> dict[str, Any]:
    """What the line of an event says, as values."""
    event = event_in(row)
    return _damaged_document(row) if event is None else {**event, HASH: row.hash}


def event_in(row: ChainRow) -> dict[str, Any] | None:
    """The event that the body is, or None when it is damaged or not the one of this row."""
    try:
        check_digest(HASH, row.hash, Code.ARCHIVE)
        event = parse_document(row.body, Code.ARCHIVE, whole=whole_or_double)
        # Only a body in its one spelling comes back the same.
        if not isinstance(event, dict) or canonical_json(event) != row.body:
            return None
    except BadInput:
        return None
    is_ours = event.get("writer") == row.writer and type(event.get("seq")) is int
    is_free = HASH not in event and DAMAGED not in event
    return event if is_ours and is_free and event["seq"] == row.seq else None


def is_damaged(document: Mapping[str, object]) -> bool:
    """Whether `document_of` found no event in the row."""
    return document.get(DAMAGED) is True


def _hash_part(found: str) -> bytes:
    return f',"{HASH}":"{found}"'.encode("ascii")


def _has_slot(event: Mapping[str, object]) -> bool:
    """Whether `hash` goes right before `machineId`, with nothing but texts and null before that."""
    for place, (key, value) in enumerate(event.items()):
        if key >= HASH:
            return key == _BEHIND_HASH and place > 0
        if value is not None and not isinstance(value, str):
            return False
    return False


def _whole_row(document: dict[str, Any], line: bytes) -> ChainRow:
    if canonical_json(document) != line:
        _refuse("this is not how an event is written")
    found = document.pop(HASH, None)
    check_digest(HASH, found, Code.ARCHIVE)
    writer, seq = document.get("writer"), document.get("seq")
    if not isinstance(writer, str) or type(seq) is not int:
        _refuse("the event does not say its place: `writer` and `seq`")
    if _has_slot(document):
        before, slot, behind = line.partition(_SLOT)
        body = before.removesuffix(_hash_part(found)) + slot + behind
    else:
        body = canonical_json(document)
    return ChainRow(writer, seq, found, body)


def _damaged_row(line: bytes) -> ChainRow:
    fields = read_object(parse_document(line, Code.ARCHIVE), _DAMAGED_FIELDS, Code.ARCHIVE)
    writer, seq, found, body = (fields[name] for name in ("writer", "seq", HASH, BODY))
    if not all(isinstance(each, str) for each in (writer, found, body)) or type(seq) is not int:
        _refuse("a field of this damaged event has another type")
    try:
        row = ChainRow(writer, seq, found, base64.b64decode(body, validate=True))
    except (binascii.Error, ValueError):
        raise BadInput(Code.ARCHIVE, "this is not Base64", where=Where(field=BODY)) from None
    if line_of(row) != line:
        _refuse("this is not how a damaged event is written")
    return row


def _damaged_document(row: ChainRow) -> dict[str, Any]:
    body = base64.b64encode(row.body).decode("ascii")
    return {BODY: body, DAMAGED: True, HASH: row.hash, "seq": row.seq, "writer": row.writer}


def _damaged_line(row: ChainRow) -> bytes:
    # Whatever a damaged store answers has to pass: numbers of any size, texts of any kind.
    document = _damaged_document(row)
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode("ascii")


def _refuse(message: str) -> NoReturn:
    raise BadInput(Code.ARCHIVE, message)
