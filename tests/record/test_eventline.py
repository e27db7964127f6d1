"""The line of an event: the same event, byte for byte, there and back."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import canonical_json, digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.record.chain import ChainRow
from consentry.record.envelope import GENESIS, Context, Draft, encode
from consentry.record.eventline import document_of, event_in, is_damaged, line_of, row_of
from consentry.record.events import EventType
from consentry.record.fields import whole_or_double
from tests.record.payloads import sample_draft
from tests.record.samples import CONTEXT, WRITER, Drafts

HOSTILE = '","machineId":"x","hash":"sha256:'


def as_row(draft: Draft, writer: str = WRITER) -> ChainRow:
    """The draft as the first event of a chain."""
    event = encode(draft, writer).linked(1, GENESIS)
    return ChainRow(event.writer, event.seq, event.hash, event.body)


ROW = as_row(Drafts().make())


def refused(line: bytes) -> BadInput:
    """The error that a line is answered with; that it is refused is asserted."""
    with pytest.raises(BadInput) as caught:
        row_of(line, 7)
    problem = caught.value
    assert problem.code is Code.ARCHIVE
    assert problem.where is not None
    assert problem.where.line == 7
    return problem


@pytest.mark.parametrize("event_type", EventType)
def test_every_type_of_event_has_a_line(event_type: EventType) -> None:
    """Canonical JSON of the event with its hash, and the very row back."""
    drafts = Drafts()
    row = as_row(sample_draft(event_type, drafts.ids, drafts.clock, CONTEXT))
    line = line_of(row)
    assert line == canonical_json({**json.loads(row.body), "hash": row.hash})
    assert row_of(line, 1) == row
    assert document_of(row) == json.loads(line)


_texts = st.text() | st.sampled_from([HOSTILE, '"', "\\", "\n", "\u2028", "\U0001f600", "\ue000"])
_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(_texts, _values, max_size=4), _texts, _texts, _texts)
def test_a_line_gives_the_event_back_byte_for_byte(
    payload: dict[str, object], subject: str, actor: str, drill: str
) -> None:
    """Whatever is in it, also text that looks like the place where the hash goes."""
    context = Context(actor=actor, machine_id=WRITER, drill_id=drill)
    made = Drafts().make()
    payload = {**payload, **made.payload}
    subject = f"tool:{subject}".replace("\0", "")[:512]
    draft = Draft(made.event_id, made.type, made.timestamp, subject, context, payload)  # type: ignore[arg-type]
    row = as_row(draft)
    line = line_of(row)
    assert b"\n" not in line
    whole = {**json.loads(row.body, parse_int=whole_or_double), "hash": row.hash}
    assert line == canonical_json(whole)
    assert row_of(line, 1) == row


@given(
    st.text(),
    st.integers(-(2**63), 2**63 - 1),
    st.text() | st.just(str(GENESIS)),
    st.binary() | st.sampled_from([b"{}", b"[" * 5000, b'{"a":NaN}', b'{"a":1,"a":1}', ROW.body]),
)
def test_any_row_at_all_comes_back(writer: str, seq: int, found: str, body: bytes) -> None:
    """A damaged store answers with anything; nothing of it is lost, and the line is still JSON."""
    row = ChainRow(writer, seq, found, body)
    line = line_of(row)
    assert isinstance(json.loads(line), dict)
    assert row_of(line, 1) == row


@pytest.mark.parametrize(
    "body",
    [
        ROW.body.replace(b'"seq":1', b'"seq": 1'),
        ROW.body.replace(b'"seq":1', b'"seq":1.0'),
        ROW.body.replace(b'"seq":1', b'"seq":true'),
        ROW.body.replace(b'"seq":1', b'"seq":2'),
        ROW.body.replace(b'{"actor"', b'{"actor":"x","actor"'),
        ROW.body.replace(b'"actor":"local', b'"actor":"\\u006cocal'),
        ROW.body.replace(b',"machineId"', b',"hash":"x","machineId"'),
        ROW.body.replace(b'"jail":"/jail"', b'"jail":NaN'),
        ROW.body[:-1],
        ROW.body + b" ",
        b"\xff" + ROW.body,
    ],
)
def test_a_body_that_is_not_the_event_in_its_one_spelling_is_damaged(body: bytes) -> None:
    """It is kept as bytes, and says so."""
    row = ROW._replace(body=body)
    assert event_in(row) is None
    document = document_of(row)
    assert is_damaged(document)
    assert sorted(document) == ["bodyBase64", "damaged", "hash", "seq", "writer"]
    assert row_of(line_of(row), 1) == row


def test_a_flipped_byte_that_leaves_json_is_still_an_event() -> None:
    """A line says what is stored; that it was changed is for following the chain."""
    row = ROW._replace(body=ROW.body.replace(b"tool:build", b"tool:guild"))
    assert document_of(row)["subject"] == "tool:guild"
    assert row_of(line_of(row), 1) == row
    assert digest_bytes(row.body) != row.hash


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"seq":1', b'"seq":1,"seq":1', "`seq` is there twice"),
        (b'"jail":"/jail"', b'"jail":NaN', "NaN is not JSON"),
        (b'"jail":"/jail"', b'"jail":Infinity', "Infinity is not JSON"),
        (b'"seq":1', b'"seq": 1', "not how an event is written"),
        (b'"seq":1', b'"seq":1.5', "does not say its place"),
        (b'"hash":"sha256:', b'"hash":"sha512:', "not a digest"),
        (b'"hash"', b'"hesh"', "not a digest"),
        (b'{"actor"', b'["actor"', "not a JSON document"),
    ],
)
def test_a_line_that_is_no_event_is_refused_with_its_number(
    old: bytes, new: bytes, said: str
) -> None:
    """What is wrong is said in one message; the line as it was is read."""
    assert row_of(line_of(ROW), 7) == ROW
    changed = line_of(ROW).replace(old, new, 1)
    assert changed != line_of(ROW)
    assert said in refused(changed).message


@pytest.mark.parametrize("line", [b"", b"null", b"[]", b"{}", b"7", b'"x"', b"\xff", b"{" * 9999])
def test_other_json_is_refused(line: bytes) -> None:
    """Nothing raises but the one error."""
    refused(line)


def test_an_event_cannot_come_as_a_damaged_one() -> None:
    """There is one line for every row: sound bytes in Base64 are refused."""
    damaged = line_of(ROW._replace(body=ROW.body[:-1]))
    assert row_of(damaged, 1).body == ROW.body[:-1]
    old, new = (base64.b64encode(body) for body in (ROW.body[:-1], ROW.body))
    assert "not how a damaged event is written" in refused(damaged.replace(old, new)).message
    assert "Base64" in refused(damaged.replace(old, b"*")).message
    assert "another type" in refused(damaged.replace(b'"seq":1', b'"seq":"1"')).message
    assert refused(damaged.replace(b'"writer"', b'"wroter"')).where is not None


@given(st.data())
def test_a_changed_line_is_refused_or_another_event(data: st.DataObject) -> None:
    """Any byte changed to any other: never the same row, never another error."""
    line = line_of(ROW)
    index = data.draw(st.integers(0, len(line) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda each: each != line[index]))
    changed = line[:index] + bytes([byte]) + line[index + 1 :]
    row = read(changed)
    assert row != ROW
    assert row is None or line_of(row) == changed


def read(line: bytes) -> ChainRow | None:
    """The row of a line, or None when it is refused as it should be."""
    try:
        return row_of(line, 3)
    except BadInput as problem:
        return refused_with(problem)


def refused_with(problem: BadInput) -> None:
    """That the one error is raised, and no other."""
    assert (problem.code, problem.where and problem.where.line) == (Code.ARCHIVE, 3)
