"""The envelope: its fields, its canonical bytes, and what is refused at append."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import canonical_json, digest_bytes
from consentry.base.clock import Instant, ManualClock
from consentry.base.errors import BadInput
from consentry.base.ids import CountingIds
from consentry.record.envelope import (
    GENESIS,
    Context,
    Draft,
    EvidenceChannel,
    encode,
    marked_as_fixture,
)
from consentry.record.events import CAPABILITY_FIELDS, EventType
from tests.record.payloads import AT, LATER, sample_draft, sample_id, sample_payload
from tests.record.samples import CONTEXT, WRITER, Drafts

ENVELOPE = {
    "actor",
    "drillId",
    "eventId",
    "evidenceChannel",
    "expectedOutcome",
    "fixtureCaseId",
    "fixtureRunId",
    "machineId",
    "payload",
    "policyHash",
    "prev",
    "schemaVersion",
    "seq",
    "sessionId",
    "subject",
    "timestampUtc",
    "type",
    "workflowId",
    "writer",
}


def test_every_envelope_field_is_always_there() -> None:
    """All keys, null where nothing is known; `hash` stands beside the bytes it is over."""
    event = encode(Drafts().make(), WRITER).linked(1, GENESIS)
    document = json.loads(event.body)
    assert set(document) == ENVELOPE
    assert document["evidenceChannel"] == "prod_traffic"
    assert document["schemaVersion"] == 1
    assert (document["seq"], document["prev"]) == (1, GENESIS)
    assert document["timestampUtc"] == "2026-01-01T00:00:01.000Z"


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text('ab"\\é\n\u2028'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abé"), inner, max_size=3),
)


@given(
    st.dictionaries(st.text("abprevseq", min_size=1), _values, max_size=4),
    st.text('ab"é\\', min_size=1),
)
def test_joined_bytes_are_the_canonical_json_of_the_whole(
    payload: dict[str, object], subject: str
) -> None:
    """Encoding in two parts around the link is an optimisation that nobody can see."""
    draft = Drafts().make(subject, **payload)  # type: ignore[arg-type]
    event = encode(draft, WRITER).linked(7, digest_bytes(b"before"))
    document = json.loads(event.body)
    assert canonical_json(document) == event.body
    assert event.hash == digest_bytes(event.body)


@pytest.mark.parametrize("left_out", CAPABILITY_FIELDS)
def test_a_missing_mandatory_field_is_refused(left_out: str) -> None:
    """MODULES §audit: thirteen fields, every one of them, null only where the value may be."""
    payload = sample_payload(EventType.ESCALATION_REQUESTED)
    del payload[left_out]
    with pytest.raises(BadInput) as caught:
        Draft(
            payload.get("eventId", sample_id("event")),
            EventType.ESCALATION_REQUESTED,
            Instant.parse(payload.get("timestampUtc", AT)),
            "module:x",
            CONTEXT,
            payload,
        )
    assert caught.value.code == "event-field"
    assert caught.value.where is not None
    assert caught.value.where.field == f"payload.{left_out}"


@pytest.mark.parametrize(
    ("event_type", "name"),
    [
        (EventType.ESCALATION_REQUESTED, "eventId"),
        (EventType.ROLLBACK_FAILED, "timestampUtc"),
        (EventType.TRANSACTION_TRANSITION, "timestamp"),
    ],
)
def test_a_payload_that_contradicts_its_envelope_is_refused(
    event_type: EventType, name: str
) -> None:
    """Where a document wants id or time in the record itself, they are the envelope's own."""
    ids, clock = CountingIds(), ManualClock(Instant(1_767_225_600_000))
    sample_draft(event_type, ids, clock, CONTEXT)
    other = sample_id("event", 99) if name == "eventId" else LATER
    with pytest.raises(BadInput, match="must have the event's own") as caught:
        sample_draft(event_type, ids, clock, CONTEXT, **{name: other})
    assert caught.value.where is not None
    assert caught.value.where.field == f"payload.{name}"


@pytest.mark.parametrize("event_type", EventType)
def test_every_type_of_event_can_be_recorded(event_type: EventType) -> None:
    """A sample of each becomes an event whose payload is read back as it was written."""
    clock = ManualClock(Instant(1_767_225_600_000))
    draft = sample_draft(event_type, CountingIds(), clock, CONTEXT)
    event = encode(draft, WRITER).linked(1, GENESIS)
    document = json.loads(event.body)
    assert (document["type"], document["payload"]) == (event_type.value, draft.payload)


@pytest.mark.parametrize("tag", ["fixtureRunId", "fixtureCaseId", "expectedOutcome"])
def test_a_fixture_event_without_a_tag_is_refused(tag: str) -> None:
    """A fixture that could pass for real traffic is not recorded."""
    tags = {"fixture_run_id": "r", "fixture_case_id": "c", "expected_outcome": "o"}
    names = {
        "fixtureRunId": "fixture_run_id",
        "fixtureCaseId": "fixture_case_id",
        "expectedOutcome": "expected_outcome",
    }
    del tags[names[tag]]
    context = Context(
        "local:0:x@y", WRITER, evidence_channel=EvidenceChannel.CONTROLLED_FIXTURE, **tags
    )
    draft = Drafts().make()
    with pytest.raises(BadInput) as caught:
        Draft(draft.event_id, draft.type, draft.timestamp, draft.subject, context, draft.payload)
    assert caught.value.where is not None
    assert caught.value.where.field == tag


def test_a_tagged_fixture_is_recorded_as_one() -> None:
    """All three tags and the channel."""
    context = marked_as_fixture(CONTEXT, "run-1", "case-2", "denied")
    assert context.evidence_channel == "controlled_fixture"
    assert (context.fixture_run_id, context.fixture_case_id) == ("run-1", "case-2")


@pytest.mark.parametrize("subject", ["", "a\0b", "x" * 513])
def test_a_subject_that_no_index_could_hold_is_refused(subject: str) -> None:
    """At once, and for this event alone: a database would refuse the whole commit."""
    with pytest.raises(BadInput) as caught:
        Drafts().make(subject)
    assert caught.value.where is not None
    assert caught.value.where.field == "subject"
