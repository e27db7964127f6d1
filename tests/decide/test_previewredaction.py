"""What a role does not see of a preview, and every way that it might come to see it (CONTRACTS §3-entry)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadInput
from consentry.base.values import replace
from consentry.decide.identity import Role
from consentry.decide.previewredaction import MOST_CARRIED, REDACTED, Redaction
from consentry.decide.statechange import EntityName, read_operations, worked_out
from consentry.decide.txpreview import NO_REVISION, PreviewTerms, preview_of
from tests.decide.changestates import operations_on
from tests.decide.samples import NOW

SECRET = "the-secret"
ONE = EntityName("notes", "n1")
RULE = Redaction("notes", "/secret", frozenset({Role.OWNER, Role.OPERATOR}))


def entries(
    there: dict[EntityName, Any], *asked: Any, rules: tuple[Redaction, ...] = (RULE,)
) -> list[dict[str, Any]]:
    """The entries under these rules, in the order they were asked for."""
    terms = PreviewTerms("tx-1", 1, "heavy", NO_REVISION, NOW, rules)
    found: Any = preview_of(terms, worked_out(there, read_operations(list(asked))))["entries"]
    return sorted(found, key=lambda each: each["seq"])


def views(
    there: dict[EntityName, Any], *asked: Any, rules: tuple[Redaction, ...] = (RULE,)
) -> list[dict[str, Any]]:
    """What an approver, who is not to see it, gets of each."""
    return [each["roleViews"]["approver"] for each in entries(there, *asked, rules=rules)]


def added(value: Any, path: str = "/notes/n1") -> dict[str, Any]:
    """Adds something."""
    return {"op": "add", "path": path, "value": value}


NOTE: dict[str, Any] = {"text": "t", "secret": {"a": SECRET, "b": [SECRET, 1, None, True], "c": {}}}
HIDDEN = {"a": REDACTED, "b": [REDACTED] * 4, "c": {}}


def test_what_is_hidden_keeps_its_shape() -> None:
    """CONTRACTS §3-entry: “A redacted role view keeps the shape”: keys and lengths, a mark for each value."""
    [view] = views({}, added(NOTE))
    assert view == {"before": None, "after": {"text": "t", "secret": HIDDEN}, "redacted": True}


def test_who_may_see_it_sees_it() -> None:
    """CONTRACTS §3-entry: the roles that the rule names; the entry itself is whole."""
    [entry] = entries({}, added(NOTE))
    assert entry["after"] == NOTE
    for role, view in entry["roleViews"].items():
        assert view["redacted"] is (role in ("approver", "viewer"))
        assert (SECRET in json.dumps(view)) is (role in ("owner", "operator"))


def test_what_no_rule_names_is_not_redacted() -> None:
    """CONTRACTS §3-entry: another type, another place, another entity."""
    for asked in (
        added({"text": SECRET}),
        added({"secret": SECRET}, "/tags/t1"),
        added({"inner": {"secret": SECRET}}),
        added({"secrets": SECRET}),
    ):
        [view] = views({}, asked)
        assert (view["redacted"], view["after"]) == (False, asked["value"])


@pytest.mark.parametrize(
    "asked",
    [
        {"op": "remove", "path": "/notes/n1"},
        {"op": "remove", "path": "/notes/n1/secret"},
        {"op": "remove", "path": "/notes/n1/secret/a"},
        {"op": "replace", "path": "/notes/n1", "value": {"secret": SECRET}},
        {"op": "replace", "path": "/notes/n1", "value": SECRET + "!"},
        {"op": "replace", "path": "/notes/n1/secret", "value": [SECRET]},
        {"op": "replace", "path": "/notes/n1/secret/b/0", "value": SECRET},
        {"op": "add", "path": "/notes/n1/secret/b/-", "value": SECRET},
        {"op": "add", "path": "/notes/n1/secret/d", "value": {"deep": [SECRET]}},
        {"op": "move", "from": "/notes/n1/secret", "path": "/notes/n1/shown"},
        {"op": "move", "from": "/notes/n1/secret/a", "path": "/notes/n1/shown"},
        {"op": "move", "from": "/notes/n1/secret/b/0", "path": "/tags/t1"},
        {"op": "move", "from": "/notes/n1", "path": "/tags/t1"},
        {"op": "move", "from": "/tags/there", "path": "/notes/n1/secret/d"},
    ],
)
def test_no_single_operation_shows_it(asked: dict[str, Any]) -> None:
    """CONTRACTS §3-entry: whole entities, parts, lists, and both ends of a move."""
    there = {ONE: NOTE, EntityName("tags", "there"): SECRET}
    [view] = views(there, asked)
    told = json.dumps(view)
    # What replaces the entity by a bare text lies at no place that the rule names.
    assert told.count(SECRET) == (1 if asked.get("value") == SECRET + "!" else 0)
    assert view["redacted"] is True


def test_a_hidden_null_is_not_told_from_others() -> None:
    """CONTRACTS §3-entry: what is absent is null, what is there and hidden is a mark, whatever it is."""
    [view] = views(
        {ONE: {"secret": None}}, {"op": "replace", "path": "/notes/n1/secret", "value": 1}
    )
    assert (view["before"], view["after"]) == (REDACTED, REDACTED)
    [view] = views({ONE: {"secret": None}}, {"op": "remove", "path": "/notes/n1/secret"})
    assert (view["before"], view["after"]) == (REDACTED, None)
    [view] = views({ONE: {}}, added(None, "/notes/n1/secret"))
    assert (view["before"], view["after"]) == (None, REDACTED)


_LAUNDERED: list[list[dict[str, Any]]] = [
    [
        {"op": "move", "from": "/notes/n1/secret", "path": "/notes/n1/shown"},
        {"op": "remove", "path": "/notes/n1/shown"},
    ],
    [
        {"op": "move", "from": "/notes/n1/secret/a", "path": "/notes/n1/one"},
        {"op": "move", "from": "/notes/n1/one", "path": "/tags/t1"},
        {"op": "replace", "path": "/tags/t1", "value": "x"},
    ],
    [
        {"op": "move", "from": "/notes/n1", "path": "/tags/t1"},
        {"op": "remove", "path": "/tags/t1/secret"},
    ],
    [
        {"op": "move", "from": "/notes/n1", "path": "/tags/t1"},
        {"op": "move", "from": "/tags/t1/secret/b", "path": "/tags/t2"},
        {"op": "remove", "path": "/tags/t2/0"},
    ],
    [
        {"op": "add", "path": "/tags/t1", "value": ["x"]},
        {"op": "move", "from": "/notes/n1/secret/a", "path": "/tags/t1/-"},
        {"op": "add", "path": "/tags/t1/0", "value": "y"},
        {"op": "remove", "path": "/tags/t1/2"},
    ],
    [
        {"op": "add", "path": "/tags/t1", "value": {"in": []}},
        {"op": "move", "from": "/notes/n1/secret/a", "path": "/tags/t1/in/0"},
        {"op": "remove", "path": "/tags/t1"},
    ],
]


@pytest.mark.parametrize("asked", _LAUNDERED)
def test_no_two_operations_together_show_it(asked: list[dict[str, Any]]) -> None:
    """CONTRACTS §3-entry: what a move carries out of a hidden place stays hidden where it arrives."""
    assert SECRET not in json.dumps(views({ONE: NOTE}, *asked))
    assert SECRET in json.dumps(entries({ONE: NOTE}, *asked))


def test_many_hidden_values_hide_the_entity_that_they_came_into() -> None:
    """CONTRACTS §3-entry: in doubt it is hidden, and the work stays bounded."""
    secrets = {str(n) + "k": SECRET for n in range(MOST_CARRIED + 2)}
    moves = [
        {"op": "move", "from": f"/notes/n1/secret/{key}", "path": f"/tags/t1/{key}"}
        for key in secrets
    ]
    last = {"op": "remove", "path": "/tags/t1"}
    there = {ONE: {"secret": secrets}, EntityName("tags", "t1"): {"open": "seen"}}
    told = json.dumps(views(there, *moves, last))
    assert SECRET not in told
    assert "seen" not in told
    assert "seen" in json.dumps(views(there, *moves[:2], last))


def test_the_end_of_a_list_may_be_any_place() -> None:
    """CONTRACTS §3-entry: what is put at the end of an empty list is at its first place."""
    rule = replace(RULE, path="/items/0")
    [view] = views({ONE: {"items": []}}, added(SECRET, "/notes/n1/items/-"), rules=(rule,))
    assert view["after"] == REDACTED
    [view] = views(
        {ONE: {"items": ["a", SECRET]}}, {"op": "remove", "path": "/notes/n1"}, rules=(rule,)
    )
    assert view["before"] == {"items": [REDACTED, SECRET]}


def test_a_rule_that_is_no_pointer_hides_the_whole_entity() -> None:
    """CONTRACTS §3-entry: a host's slip shows less, and not more."""
    for path in ("secret", "/a~", ""):
        [view] = views({}, added(NOTE), rules=(replace(RULE, path=path),))
        assert view["after"] == {"text": REDACTED, "secret": HIDDEN}


def test_rules_add_up() -> None:
    """CONTRACTS §3-entry: each hides for the roles that it does not name."""
    rules = (RULE, Redaction("notes", "/text", frozenset({Role.OWNER})))
    [entry] = entries({}, added(NOTE), rules=rules)
    told = {role: view["after"] for role, view in entry["roleViews"].items()}
    assert told["owner"] == NOTE
    assert told["operator"] == {"text": REDACTED, "secret": NOTE["secret"]}
    assert told["approver"] == told["viewer"] == {"text": REDACTED, "secret": HIDDEN}


def test_redaction_changes_the_hash_and_not_what_is_bound() -> None:
    """CONTRACTS §3-hash: the hash is over all roles' views and over the whole of the change."""
    terms = PreviewTerms("tx-1", 1, "heavy", NO_REVISION, NOW, (RULE,))
    hashes = {
        preview_of(terms, worked_out({}, read_operations([added({"secret": value})])))[
            "previewHash"
        ]
        for value in ("one", "two")
    }
    assert len(hashes) == 2


@given(st.data())
def test_a_hidden_value_is_in_no_view(data: st.DataObject) -> None:
    """CONTRACTS §3-entry: whatever a change does with values that lie hidden when it begins."""
    there: Any = {
        ("notes", "n1"): {"n1": [SECRET, {"n2": SECRET}], "n2": ["open"]},
        ("notes", "n2"): {"n1": {"0": SECRET}},
        ("tags", "n1"): {"n2": []},
    }
    asked = data.draw(operations_on(there))
    known = {EntityName(*name): value for name, value in there.items()}
    rule = Redaction("notes", "/n1", frozenset({Role.OWNER}))
    try:
        told = views(known, *asked, rules=(rule,)) if asked else []
    except BadInput:
        return
    assert SECRET not in json.dumps(told)
