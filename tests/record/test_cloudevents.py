"""CloudEvents: the attributes that the specification requires, in the form it requires."""

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import canonical_json
from consentry.record.chain import ChainRow
from consentry.record.cloudevents import cloudevent
from consentry.record.envelope import GENESIS, encode
from consentry.record.eventline import document_of
from consentry.record.events import EventType
from consentry.record.redaction import Redactor
from tests.record.payloads import sample_draft
from tests.record.samples import CONTEXT, WRITER, Drafts

STORE = "store-" + "3" * 32
_ATTRIBUTE = re.compile(r"[a-z0-9]{1,20}")
_NOT_IN_A_STRING = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_URI = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+", re.ASCII)


def event_of(event_type: EventType = EventType.PERMIT_SPENT) -> dict[str, Any]:
    """A whole event of that type, as it is exported."""
    drafts = Drafts()
    event = encode(sample_draft(event_type, drafts.ids, drafts.clock, CONTEXT), WRITER)
    linked = event.linked(12, GENESIS)
    return document_of(ChainRow(linked.writer, linked.seq, linked.hash, linked.body))


def told(event: dict[str, Any]) -> dict[str, Any]:
    """The CloudEvent, checked against the rules for its attributes."""
    document = cloudevent(event, STORE, {"some": "data"})
    assert canonical_json(document)
    assert {"id", "source", "specversion", "type"} <= set(document)
    for name, value in document.items():
        assert _ATTRIBUTE.fullmatch(name), name
        if name != "data":
            assert isinstance(value, str | bool)
            assert value not in ("", None)
            assert value is True or not _NOT_IN_A_STRING.search(str(value)), name
    assert _URI.fullmatch(document["source"])
    assert urlsplit(document["source"]).scheme == "urn"
    assert document["specversion"] == "1.0"
    assert document["datacontenttype"] == "application/json"
    return document


@pytest.mark.parametrize("event_type", EventType)
def test_every_type_of_event_is_one(event_type: EventType) -> None:
    """The type is ours, and the id is the event's own."""
    event = event_of(event_type)
    document = told(event)
    assert document["type"] == f"consentry.{event_type}"
    assert document["id"] == event["eventId"]
    assert document["data"] == {"some": "data"}


def test_the_attributes_of_an_event() -> None:
    """Enough to route it and to find it again."""
    event = event_of()
    document = told(event)
    del document["data"]
    assert document == {
        "specversion": "1.0",
        "id": "event-00000000-0000-7000-8000-000000000001",
        "source": f"urn:consentry:{STORE}:{WRITER}",
        "type": "consentry.permit.spent",
        "subject": "sample:permits",
        "time": "2026-01-01T00:00:00.000Z",
        "datacontenttype": "application/json",
        "evidencechannel": "prod_traffic",
        "writer": WRITER,
        "hash": event["hash"],
        "sequence": "0000000000000012",
    }


def test_a_redacted_event_says_so() -> None:
    """In an attribute of its own; its hash is not the event's."""
    event = event_of()
    document = told(Redactor(b"k" * 32).redacted(event))
    assert document["redacted"] is True
    assert document["hash"] != event["hash"]


def test_a_damaged_event_is_known_by_its_place() -> None:
    """It has no id that can be believed."""
    document = told(document_of(ChainRow(WRITER, 9, GENESIS, b"\xff")))
    assert document["id"] == f"{WRITER}/9"
    assert document["type"] == "consentry.damaged"
    assert "time" not in document


@given(
    st.sampled_from(["subject", "machineId", "writer", "evidenceChannel", "type", "timestampUtc"]),
    st.text() | st.none() | st.integers() | st.lists(st.none()),
)
def test_hostile_values_cannot_break_an_attribute(name: str, value: object) -> None:
    """Escaped where the specification allows no such character; left out where nothing is known."""
    event = event_of()
    event[name] = value
    told(event)


def test_different_stores_and_machines_are_different_sources() -> None:
    """Source and id together name an event, wherever it is read."""
    event = event_of()
    sources = {
        cloudevent(event, STORE, None)["source"],
        cloudevent(event, "store-" + "4" * 32, None)["source"],
        cloudevent({**event, "machineId": "a:b"}, STORE, None)["source"],
        cloudevent({**event, "machineId": "a%3Ab"}, STORE, None)["source"],
    }
    assert len(sources) == 4
