"""Redaction: what identifies a person or tells their words is gone, what happened is not."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import canonical_json
from consentry.record.chain import ChainRow
from consentry.record.envelope import GENESIS, Context, encode, hash_of
from consentry.record.eventline import document_of
from consentry.record.events import EventType
from consentry.record.fieldrules import leaves
from consentry.record.redaction import Redactor, redaction_table
from tests.record.payloads import sample_draft
from tests.record.samples import WRITER, Drafts

KEY = b"k" * 32
SECRET = "Überraschung for Ms X"
NAME = "zaphod"
CONTEXT = Context(actor=f"local:1000:{NAME}@heart-of-gold", machine_id=WRITER)
TABLE = redaction_table()


def event_of(event_type: EventType, context: Context = CONTEXT) -> dict[str, Any]:
    """A whole event of that type, as it is exported."""
    drafts = Drafts()
    draft = sample_draft(event_type, drafts.ids, drafts.clock, context)
    event = encode(draft, WRITER).linked(1, GENESIS)
    return document_of(ChainRow(event.writer, event.seq, event.hash, event.body))


def shown(event: dict[str, Any]) -> dict[str, Any]:
    """The redacted event, which must be JSON with a canonical form."""
    redacted = Redactor(KEY).redacted(event)
    assert json.loads(canonical_json(redacted)) == redacted
    assert redacted["redacted"] is True
    return redacted


Visit = Callable[[tuple[str, ...], str], str]


def with_texts(value: Any, visit: Visit, place: tuple[str, ...] = ()) -> Any:
    """The same value with every text in it replaced."""
    if isinstance(value, str):
        return visit(place, value)
    if isinstance(value, dict):
        return {name: with_texts(item, visit, (*place, name)) for name, item in value.items()}
    if isinstance(value, list):
        return [with_texts(item, visit, place) for item in value]
    return value


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)


@pytest.mark.parametrize("event_type", EventType)
def test_a_secret_in_any_text_of_any_event_is_gone(event_type: EventType) -> None:
    """Planted everywhere at once; in a path, where a home folder stands."""
    event = event_of(event_type)

    def planted(place: tuple[str, ...], _old: str) -> str:
        form = TABLE.form_of(event_type, place) if place else None
        return f"/home/{SECRET}/x.txt" if form == "path" else SECRET

    event["payload"] = with_texts(event["payload"], planted)
    for name, value in event.items():
        if isinstance(value, str) and name != "type":
            event[name] = SECRET
    assert SECRET in json.dumps(event, ensure_ascii=False)
    assert SECRET not in json.dumps(shown(event), ensure_ascii=False)


_MARK = "¤"
_marked = st.text(max_size=6).map(lambda text: _MARK + text)
_marked_values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | _marked,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_marked, inner, max_size=3),
    max_leaves=10,
)


@given(
    st.sampled_from(EventType),
    st.dictionaries(_marked | st.sampled_from(["reason", "new", "decision"]), _marked_values),
)
def test_a_field_that_nobody_listed_is_hidden_with_its_name(
    event_type: EventType, more: dict[str, Any]
) -> None:
    """The table says what is shown; everything else is not, however deep."""
    event = event_of(event_type)
    event["payload"] = {**event["payload"], **more}
    assert _MARK not in json.dumps(shown(event), ensure_ascii=False)


@given(st.text(), st.sampled_from(["actor", "subject", "workflowId", "drillId", "sessionId", "x"]))
def test_envelope_texts_are_shown_only_in_their_form(text: str, name: str) -> None:
    """Whatever an embedding program writes there."""
    event = event_of(EventType.FILESYSTEM_RACE_DETECTED)
    event[name] = _MARK + text
    assert _MARK not in json.dumps(shown(event), ensure_ascii=False)


@pytest.mark.parametrize("event_type", EventType)
def test_names_of_users_and_hosts_are_gone_and_their_account_numbers_stay(
    event_type: EventType,
) -> None:
    """From the actor, and from every field that names a person."""
    event = event_of(event_type)
    event["payload"] = with_texts(
        event["payload"], lambda _place, old: old.replace("user@host", f"{NAME}@heart-of-gold")
    )
    redacted = shown(event)
    for text in texts_in(redacted):
        assert NAME not in text
        assert "heart-of-gold" not in text
    assert redacted["actor"].startswith("local:1000:redacted:")


@pytest.mark.parametrize("event_type", EventType)
def test_what_happened_stays_readable(event_type: EventType) -> None:
    """Type, time, ids, place in the chain, numbers and words of decisions are as they were."""
    event = event_of(event_type)
    redacted = shown(event)
    for name in ("eventId", "type", "timestampUtc", "writer", "seq", "machineId", "schemaVersion"):
        assert redacted[name] == event[name]
    payload, before = redacted["payload"], event["payload"]
    kept = ("decision", "status", "risk_band", "requestId", "consentId", "toSet", "nextState")
    for name in (*kept, "approved", "capabilityId", "tokenId", "lasts", "events", "endedWhy"):
        if name in before:
            assert payload[name] == before[name]


def test_a_tools_audit_entry_loses_its_person_and_keeps_its_facts() -> None:
    """CONSENT §audit, field by field."""
    event = event_of(EventType.TOOL_AUDIT)
    event["payload"]["impact"]["filesRead"] = [
        {"path": f"/home/{NAME}/thesis/main.tex", "hash": None}
    ]
    event["payload"]["sandbox"]["violations"] = [{"what": "open", "path": "/etc/shadow"}]
    payload = shown(event)["payload"]
    assert payload["tool"] == {"name": "build-latex", "version": "1.0.0"}
    assert payload["user"]["consentMethod"] == "explicit_approval"
    assert payload["execution"] == event["payload"]["execution"]
    owner = Redactor(KEY).token(NAME)
    assert payload["impact"]["filesRead"][0]["path"] == f"/home/{owner}/thesis/main.tex"
    assert payload["impact"]["filesWritten"] == event["payload"]["impact"]["filesWritten"]
    assert payload["sandbox"]["resourceUsage"] == {"cpuTime": "32s", "memoryPeak": "128MB"}
    assert "/etc/shadow" not in json.dumps(payload)


def test_free_text_arguments_code_and_previews_are_gone() -> None:
    """The fields that hold what people and programs wrote."""
    request = event_of(EventType.APPROVAL_REQUESTED)
    payload = shown(request)["payload"]
    assert payload["question"].startswith("redacted:")
    assert payload["preview"].startswith("redacted:"), "as a whole, numbers in it included"
    pattern = shown(event_of(EventType.WORKFLOW_PATTERN_SAVED))["payload"]
    assert {pattern[name][:9] for name in ("code", "codeHash", "name")} == {"redacted:"}
    permit = event_of(EventType.PERMIT_MADE)
    permit["payload"]["arguments"] = ["--pin", "1234"]
    permit["payload"]["digests"] = {"/home/zaphod/tool": "sha256:" + "5" * 64}
    payload = shown(permit)["payload"]
    assert payload["arguments"].startswith("redacted:")
    [(name, digest)] = payload["digests"].items()
    assert (name[:9], digest) == ("redacted:", "sha256:" + "5" * 64)
    machine = shown(event_of(EventType.MACHINE_REGISTERED))["payload"]
    assert machine["hostName"].startswith("redacted:")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("latex/main.tex", "latex/main.tex"),
        ("./data", "./data"),
        ("/usr/lib/", "/usr/lib/"),
        ("/home/*/notes", "/home/*/notes"),
        ("/home/somebody/notes", "/home/{somebody}/notes"),
        ("/Users/somebody", "/Users/{somebody}"),
        ("/mnt/home/somebody/x", "/mnt/home/{somebody}/x"),
        ("~/notes", "~/notes"),
        ("~somebody/notes", "{~somebody}/notes"),
        ("/srv/people/owner/x", "/srv/people/{owner}/x"),
        ("/srv/people/ownership/x", "/srv/people/ownership/x"),
        ("/tmp/build-Zaphod-7/x", "/tmp/{build-Zaphod-7}/x"),
        ("/home/./somebody/x", "{}"),
        ("/home//somebody/x", "{}"),
        ("/home/x/../somebody", "{}"),
        ("/tmp/password=hunter2hunter2", "{}"),
        ("/tmp/a\x1b[2J", "{}"),
        ("/tmp/" + "a" * 5000, "{}"),
    ],
)
def test_the_home_part_of_a_path_is_gone(path: str, expected: str) -> None:
    """In braces what is replaced; empty braces: the whole path."""
    redactor = Redactor(KEY, ["/srv/people/owner/", "/"])
    event = event_of(EventType.FILESYSTEM_RACE_DETECTED)
    event["payload"]["relative"] = path
    head, brace, rest = expected.partition("{")
    inside, _, tail = rest.partition("}")
    if brace:
        expected = head + redactor.token(inside or path) + tail
    assert redactor.redacted(event)["payload"]["relative"] == expected


def test_equal_values_look_equal_in_one_export_and_different_in_another() -> None:
    """Whoever reads one export can follow a person through it, and not into the next."""
    event = event_of(EventType.PERMIT_SPENT)
    one, other = Redactor(KEY).redacted(event), Redactor(b"o" * 32).redacted(event)
    assert one == Redactor(KEY).redacted(event)
    assert one["actor"] != other["actor"]
    assert one["hash"] != other["hash"]


def test_hidden_words_cannot_be_tried_out() -> None:
    """The attack: all but the user's name is known, and the event's hash would confirm the name.

    The control: with the hash of the event it works.
    """
    draft = replace(Drafts().make(), context=CONTEXT)

    def guessed(name: str) -> str:
        context = replace(CONTEXT, actor=f"local:1000:{name}@heart-of-gold")
        return encode(replace(draft, context=context), WRITER).linked(1, GENESIS).hash

    event = encode(draft, WRITER).linked(1, GENESIS)
    names = ["arthur", "ford", NAME, "trillian"]
    assert [name for name in names if guessed(name) == event.hash] == [NAME]
    redacted = shown(document_of(ChainRow(event.writer, event.seq, event.hash, event.body)))
    line = canonical_json(redacted).decode()
    for name in names:
        assert guessed(name) not in line
        assert hash_of(name.encode()).removeprefix("sha256:")[:16] not in line


def test_links_between_events_stay() -> None:
    """`prev` of an event is the `hash` of the one before it, under their new names."""
    drafts = Drafts()
    first = encode(drafts.make(), WRITER).linked(1, GENESIS)
    second = encode(drafts.make(), WRITER).linked(2, first.hash)
    events = [
        shown(document_of(ChainRow(each.writer, each.seq, each.hash, each.body)))
        for each in (first, second)
    ]
    assert events[1]["prev"] == events[0]["hash"] != first.hash


def test_a_damaged_event_keeps_its_place_only() -> None:
    """Nobody knows what its bytes hold."""
    row = ChainRow(WRITER, 3, GENESIS, SECRET.encode())
    assert shown(document_of(row)) == {
        "writer": WRITER,
        "seq": 3,
        "damaged": True,
        "redacted": True,
    }


@pytest.mark.parametrize("depth", [5, 40, 300])
def test_depth_does_not_matter(depth: int) -> None:
    """Nested as deep as it likes: hidden, and no error."""
    value: Any = SECRET
    for _ in range(depth):
        value = [{"x": value}] if depth % 2 else [[{"reason": value}]]
    event = event_of(EventType.FILESYSTEM_RACE_DETECTED)
    event["payload"]["more"] = value
    assert SECRET not in json.dumps(shown(event), ensure_ascii=False)


def test_every_event_type_and_every_field_of_it_is_in_the_table() -> None:
    """A field that is added shows its name at least; whether its text shows, somebody decides."""
    assert set(TABLE.payload) == {event_type.value for event_type in EventType}
    for event_type in EventType:
        for place, _field in leaves(event_type.shape.fields):
            names = place.replace("[]", "").split(".")
            missing = set(names) - TABLE.names
            assert not missing, f"list {missing} of {event_type} in redaction.toml"


def test_every_place_in_the_table_is_one_of_an_event() -> None:
    """A row for a field that no event has hides a spelling mistake."""
    for event_type in EventType:
        of_group = {
            place.replace("[]", "")
            for other in EventType
            if TABLE.payload[other] is TABLE.payload[event_type]
            for place, _ in leaves(other.shape.fields)
        }
        tops = {place.partition(".")[0] for place in of_group}
        for place in TABLE.payload[event_type]:
            assert place in of_group or place.partition(".")[0] in tops, f"{event_type}: {place}"


def test_a_token_of_a_known_shape_in_a_name_is_hidden() -> None:
    """A tool named after a secret is shown as one that has a secret."""
    event = event_of(EventType.TOOL_AUDIT)
    event["subject"] = "tool:ghp_" + "a1B2" * 9
    assert shown(event)["subject"].startswith("tool:redacted:")
    event["subject"] = "tool:build-latex"
    assert shown(event)["subject"] == "tool:build-latex"
    event["subject"] = "somebody:build"
    assert shown(event)["subject"].startswith("redacted:")
