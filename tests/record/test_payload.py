"""Nothing is recorded that lacks a field of its type or has the wrong thing in it."""

from typing import Any

import pytest

from consentry.record.events import EventType
from consentry.record.fieldrules import ANY_JSON, Field
from consentry.record.payload import check_payload
from tests.record.payloads import sample_payload
from tests.record.refusals import field_named, part_of, refusal

NEVER_RIGHT = -0.5
"""A number that no kind of field takes but the one that takes every value."""

NOT_NULL_BESIDE_THE_REST = {
    (EventType.ESCALATION_REQUESTED, "approverIdentity"): {"approverRole": "owner"},
    (EventType.ESCALATION_REQUESTED, "approverRole"): {"approverIdentity": "system"},
    (EventType.CAPABILITY_MINTED, "consentId"): {},
    (EventType.CAPABILITY_MINTED, "grantId"): {"consentId": None},
    (EventType.PERMISSION_ESCALATION_DECIDED, "approvedBy"): {},
    (EventType.CONSENT_GIVEN, "sessionId"): {},
    (EventType.GRANT_GIVEN, "sessionId"): {},
    (EventType.MODULE_IMPORTED, "replacedVersion"): {},
    (EventType.MODULE_IMPORTED, "replacedDigest"): {},
}
"""Fields that may be null, but not with what else the sample, so changed, says."""


PLACES = [
    pytest.param(event_type, place, field, id=f"{event_type}-{place}")
    for event_type in EventType
    for place, field in event_type.places()
]
"""Every field of every type, those of parts included."""


@pytest.mark.parametrize("event_type", EventType)
def test_a_complete_payload_is_accepted(event_type: EventType) -> None:
    """The sample of every type, and the same with more than it must have."""
    check_payload(event_type, sample_payload(event_type))
    check_payload(event_type, sample_payload(event_type, note="and more", size={"of": [1]}))


@pytest.mark.parametrize(("event_type", "place", "field"), PLACES)
def test_a_missing_field_is_refused_by_name(
    event_type: EventType, place: str, field: Field
) -> None:
    """Each field of each type, nullable or not: the key is always there."""
    payload = sample_payload(event_type)
    holder, name = part_of(payload, place)
    del holder[name]
    problem = refusal(event_type, payload)
    assert field_named(problem) == f"payload.{place.replace('[]', '[0]')}"
    assert problem.message.endswith("cannot be without it")
    assert field.name == name


@pytest.mark.parametrize(("event_type", "place", "field"), PLACES)
def test_a_field_of_the_wrong_kind_is_refused_by_name(
    event_type: EventType, place: str, field: Field
) -> None:
    """The message says what belongs there, and never repeats what stood there."""
    payload = sample_payload(event_type)
    holder, name = part_of(payload, place)
    holder[name] = NEVER_RIGHT
    if field.kind is ANY_JSON:
        check_payload(event_type, payload)
        return
    problem = refusal(event_type, payload)
    assert field_named(problem) == f"payload.{place.replace('[]', '[0]')}"
    assert problem.message.endswith(f"must have {field.kind.words} here")
    assert "0.5" not in str(problem)


@pytest.mark.parametrize(("event_type", "place", "field"), PLACES)
def test_null_stands_only_where_it_may(event_type: EventType, place: str, field: Field) -> None:
    """A nullable field takes null, alone or where the rest allows it; no other field does."""
    payload = sample_payload(event_type, **NOT_NULL_BESIDE_THE_REST.get((event_type, place), {}))
    holder, name = part_of(payload, place)
    holder[name] = None
    if field.nullable and (event_type, place) not in NOT_NULL_BESIDE_THE_REST:
        check_payload(event_type, payload)
        return
    problem = refusal(event_type, payload)
    if not field.nullable:
        assert field_named(problem) == f"payload.{place.replace('[]', '[0]')}"
        assert problem.message.endswith("cannot have null here")


@pytest.mark.parametrize("payload", [[], "x", 1, None])
def test_a_payload_is_an_object(payload: Any) -> None:
    """Whatever else it is, it has no fields."""
    assert field_named(refusal(EventType.LEDGER_PURGED, payload)) == "payload"
