"""Events in OCSF: every attribute that the schema requires is there, and nothing is lost."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import canonical_json
from consentry.record.chain import ChainRow
from consentry.record.envelope import GENESIS, Context, encode, hash_of
from consentry.record.eventline import document_of
from consentry.record.events import EventType
from consentry.record.ocsf import ocsf_event, ocsf_table
from consentry.record.redaction import Redactor
from tests.record.payloads import sample_draft
from tests.record.samples import CONTEXT, WRITER, Drafts

# What OCSF 1.8.0 requires of each class besides what it requires of all; `a|b` means one of them.
REQUIRED = {
    0: [],
    1001: ["actor", "device.type_id", "device.uid", "file.name", "file.type_id"],
    1005: ["actor", "device.type_id", "module.load_type_id|module.function_name"],
    1007: ["actor", "device.type_id", "process.pid|process.uid|process.cpid"],
    1008: ["log_name|log_provider|log_type|log_type_id|log_file"],
    2003: ["compliance", "finding_info.uid"],
    3004: ["entity.name|entity.uid"],
    3005: ["privileges", "user.name|user.uid|user.account"],
}
OF_ALL = {
    "activity_id": int,
    "category_uid": int,
    "class_uid": int,
    "type_uid": int,
    "severity_id": int,
    "time": int,
    "metadata": dict,
}
ACTIVITIES = {
    1001: range(15),
    1005: range(4),
    1007: range(6),
    1008: range(11),
    2003: range(4),
    3004: range(14),
    3005: range(3),
}


def event_of(event_type: EventType, context: Context = CONTEXT, **changes: Any) -> dict[str, Any]:
    """A whole event of that type, as it is exported."""
    drafts = Drafts()
    draft = sample_draft(event_type, drafts.ids, drafts.clock, context, **changes)
    event = encode(draft, WRITER).linked(1, GENESIS)
    return document_of(ChainRow(event.writer, event.seq, event.hash, event.body))


def told(event: dict[str, Any]) -> dict[str, Any]:
    """The OCSF event, checked against what the schema requires."""
    document = ocsf_event(event, "0.1.0")
    assert canonical_json(document)
    for name, kind in OF_ALL.items():
        assert type(document[name]) is kind, name
    class_uid = document["class_uid"]
    assert document["type_uid"] == class_uid * 100 + document["activity_id"]
    assert document["category_uid"] == class_uid // 1000
    assert document["severity_id"] in range(7)
    for alternatives in REQUIRED[class_uid]:
        assert any(at(document, place) is not None for place in alternatives.split("|"))
    metadata = document["metadata"]
    assert metadata["version"] == "1.8.0"
    assert metadata["product"] == {
        "name": "Consentry",
        "vendor_name": "Consentry",
        "version": "0.1.0",
    }
    assert document["actor"]["user"]["uid"]
    return document


def at(document: Any, dotted: str) -> Any:
    """What stands at a place, or None."""
    for name in dotted.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


@pytest.mark.parametrize("event_type", EventType)
def test_every_type_has_its_class_and_what_the_class_requires(event_type: EventType) -> None:
    """No type is left to the Base Event, and the activity is one of the class."""
    event = event_of(event_type)
    document = told(event)
    assert document["class_uid"] != 0
    assert document["activity_id"] in (*ACTIVITIES[document["class_uid"]], 99)
    assert document["activity_name"]
    assert document["message"] == event_type.meaning
    assert document["time"] == 1_767_225_600_000
    assert document["metadata"]["uid"] == event["eventId"]
    assert document["metadata"]["event_code"] == event_type
    assert document["metadata"]["sequence"] == 1
    assert document["device"] == {"uid": WRITER, "type_id": 0}


@pytest.mark.parametrize("event_type", EventType)
def test_nothing_is_lost(event_type: EventType) -> None:
    """The event under `unmapped` is whole: its hash can be computed from there."""
    whole = json.loads(canonical_json(told(event_of(event_type))))["unmapped"]
    found = whole.pop("hash")
    assert hash_of(canonical_json(whole)) == found


@pytest.mark.parametrize("event_type", EventType)
def test_a_redacted_event_has_what_is_required_too(event_type: EventType) -> None:
    """And is labelled as one."""
    document = told(Redactor(b"k" * 32).redacted(event_of(event_type)))
    assert "redacted" in document["metadata"]["labels"]
    assert "user@host" not in json.dumps(document)


def test_the_table_has_every_type_and_no_other() -> None:
    """A new type needs a row before it can be exported under its own name."""
    assert set(ocsf_table().rows) == {event_type.value for event_type in EventType}


@pytest.mark.parametrize(
    ("event_type", "changes", "expected"),
    [
        (EventType.ESCALATION_APPROVED, {}, {"class_uid": 3005, "activity_id": 1, "status_id": 1}),
        (EventType.ESCALATION_DENIED, {}, {"class_uid": 3005, "activity_id": 1, "status_id": 2}),
        (EventType.ESCALATION_REQUESTED, {}, {"activity_id": 99, "status_id": None}),
        (EventType.CHECK_REJECTED, {}, {"status_id": 2, "severity_id": 3}),
        (EventType.FILESYSTEM_RACE_DETECTED, {}, {"class_uid": 1001, "status_id": 2}),
        (EventType.GUARD_VERDICT, {}, {"compliance.status_id": 3, "severity_id": 4}),
        (EventType.TOOL_AUDIT, {}, {"class_uid": 1007, "status_id": 1, "exit_code": 0}),
        (
            EventType.PERMISSION_ESCALATION_DECIDED,
            {"approved": False},
            {"class_uid": 3005, "status_id": 2, "status": "Failure"},
        ),
        (
            EventType.PERMISSION_ESCALATION_DECIDED,
            {"approved": True, "approvedBy": "system"},
            {"status_id": 1, "status": "Success"},
        ),
        (EventType.CONSENT_REVOKED, {}, {"class_uid": 3005, "activity_id": 2}),
        (EventType.WORKSPACE_ACCEPTED, {}, {"class_uid": 3005, "activity_id": 1}),
        (EventType.WORKSPACE_WITHDRAWN, {}, {"class_uid": 3005, "activity_id": 2}),
        (EventType.LEDGER_ARCHIVED, {}, {"class_uid": 1008, "activity_id": 4}),
        (EventType.LEDGER_PURGED, {}, {"class_uid": 1008, "activity_id": 1}),
        (EventType.MACHINE_REGISTERED, {}, {"class_uid": 3004, "activity_id": 6}),
    ],
)
def test_decisions_and_outcomes_are_told(
    event_type: EventType, changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    """By the numbers that OCSF has for them; where none was made, none is told."""
    document = told(event_of(event_type, **changes))
    assert {place: at(document, place) for place in expected} == expected


def test_a_run_tells_its_program_times_and_failure() -> None:
    """A denied run is a launch that failed."""
    event = event_of(EventType.TOOL_AUDIT)
    document = told(event)
    assert document["process"]["name"] == "build-latex"
    assert document["process"]["created_time"] < document["process"]["terminated_time"]
    event["payload"]["execution"] = {
        "startTime": None,
        "endTime": None,
        "status": "denied",
        "exitCode": None,
    }
    denied = told(event)
    assert (denied["status_id"], denied["status_code"]) == (2, "denied")
    assert "exit_code" not in denied
    assert "created_time" not in denied["process"]


@pytest.mark.parametrize(
    ("actor", "name", "kind"),
    [
        ("local:1000:user@host", "user", 1),
        ("local:1000:a@b@host", "a@b", 1),
        ("web:account", "account", 1),
        ("policy:sha256:" + "0" * 64, "sha256:" + "0" * 64, 4),
        ("system", "system", 3),
        ("somebody", "somebody", 0),
    ],
)
def test_the_actor_is_told_by_name_and_kind(actor: str, name: str, kind: int) -> None:
    """The whole identity is the unique one."""
    event = event_of(EventType.PERMIT_SPENT, Context(actor=actor, machine_id=WRITER))
    assert told(event)["actor"]["user"] == {"uid": actor, "name": name, "type_id": kind}


def test_a_session_and_a_workflow_are_told() -> None:
    """As the actor's session, and as what connects events."""
    context = Context("system", WRITER, session_id="session-x", workflow_id="flow-1")
    document = told(event_of(EventType.PERMIT_SPENT, context))
    assert document["actor"]["session"] == {"uid": "session-x"}
    assert document["metadata"]["correlation_uid"] == "flow-1"


def test_an_unknown_type_and_a_damaged_event_are_base_events() -> None:
    """Kept whole, and the damaged one stands out."""
    event = {**event_of(EventType.PERMIT_SPENT), "type": "thing.of.tomorrow"}
    document = told(event)
    assert (document["class_uid"], document["activity_name"]) == (0, "thing.of.tomorrow")
    damaged = document_of(ChainRow(WRITER, 9, GENESIS, b"\xff"))
    document = told(damaged)
    assert (document["class_uid"], document["severity_id"], document["time"]) == (0, 4, 0)
    assert document["unmapped"] == damaged


_junk = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.sampled_from(EventType), st.data())
def test_fields_of_the_wrong_kind_never_stop_an_export(
    event_type: EventType, data: st.DataObject
) -> None:
    """An event that another program wrote into the store: told as far as it can be."""
    event = event_of(event_type)
    for name in data.draw(st.sets(st.sampled_from(sorted(event)), max_size=4)) - {"type"}:
        event[name] = data.draw(_junk)
    if isinstance(event["payload"], dict):
        for name in data.draw(st.sets(st.sampled_from([*event["payload"], "x"]), max_size=4)):
            event["payload"][name] = data.draw(_junk)
    document = ocsf_event(event, "0.1.0")
    assert document["unmapped"] == event
    assert canonical_json(document)
