"""A preview as a diff: what comes, what goes, what stays, from where something was moved, and for whom."""

import json
from typing import Any

import pytest

from consentry.base.clock import Instant
from consentry.decide.identity import Role
from consentry.decide.previewdiff import (
    MOST_LEVELS,
    DiffChange,
    DiffEntity,
    diff_of,
    diff_of_writes,
    role_entries,
)
from consentry.decide.previewredaction import Redaction
from consentry.decide.statechange import EntityName, entities_of, read_operations, worked_out
from consentry.decide.txpreview import NO_REVISION, PreviewTerms, preview_of

N1 = EntityName("notes", "n1")
N2 = EntityName("notes", "n2")
BEFORE: dict[EntityName, Any] = {
    N1: {"text": "one", "tags": ["a", "b"], "by": {"name": "Ann", "phone": "123"}},
    N2: {"text": "two"},
}


def previewed(
    *operations: dict[str, Any], hides: tuple[Redaction, ...] = (), before: Any = None
) -> dict[str, Any]:
    """The preview of these, through JSON as the store has it."""
    asked = read_operations(list(operations))
    entities = {
        name: value for name, value in (before or BEFORE).items() if name in entities_of(asked)
    }
    terms = PreviewTerms("tx-1", 1, "host", NO_REVISION, Instant(0), hides)
    shown: dict[str, Any] = json.loads(json.dumps(preview_of(terms, worked_out(entities, asked))))
    return shown


def only(preview: dict[str, Any], role: Role = Role.OWNER) -> DiffChange:
    """The one change of the one entity."""
    ((entity,),) = [diff_of(preview, role)]
    (change,) = entity.changes
    return change


def told(change: DiffChange) -> list[tuple[str, str, Any]]:
    """Its values in short."""
    return [(each.mark.value, each.place, each.value) for each in change.values]


def test_what_is_added_is_told_value_by_value() -> None:
    """CONTRACTS §3-preview: every single value with its place; what is empty is a value, too."""
    added = only(previewed({"op": "add", "path": "/notes/n3", "value": {"b": [1, {}], "a": None}}))
    assert (added.op, added.place, added.stays) == ("add", "", 0)
    assert told(added) == [("+", "/a", None), ("+", "/b/0", 1), ("+", "/b/1", {})]


def test_what_is_removed_is_told_as_it_was() -> None:
    """CONTRACTS §3-preview."""
    removed = only(previewed({"op": "remove", "path": "/notes/n1/tags"}))
    assert (removed.op, removed.place) == ("remove", "/tags")
    assert told(removed) == [("-", "/0", "a"), ("-", "/1", "b")]


def test_of_what_is_replaced_only_what_differs_is_told() -> None:
    """And how many values stay; a value that was taken out or put in between stands where it is."""
    new = {"text": "one", "tags": ["a", "c", "d"], "by": {"name": "Ann"}, "done": True}
    replaced = only(previewed({"op": "replace", "path": "/notes/n1", "value": new}))
    assert told(replaced) == [
        ("-", "/by/phone", "123"),
        ("-", "/tags/1", "b"),
        ("+", "/tags/1", "c"),
        ("+", "/tags/2", "d"),
        ("+", "/done", True),
    ]
    assert replaced.stays == 3


@pytest.mark.parametrize(
    ("before", "after"),
    [(1, True), (0, False), ("1", 1), (None, False), ({}, []), ({"a": 1}, [1]), ([], [0])],
)
def test_values_of_different_kinds_are_never_the_same(before: Any, after: Any) -> None:
    """One is not true, and a text is no number: the person would not see what changes."""
    entities = {N1: {"v": before}}
    change = {"op": "replace", "path": "/notes/n1/v", "value": after}
    replaced = only(previewed(change, before=entities))
    assert replaced.stays == 0
    assert told(replaced)[0][0] == "-" or before == []
    assert replaced.values


def test_a_move_says_from_where_and_what() -> None:
    """CONTRACTS §3-preview: it stands with the entity that it comes to."""
    change = {"op": "move", "from": "/notes/n1/by", "path": "/notes/n2/by"}
    (entity,) = diff_of(previewed(change), Role.OWNER)
    assert entity.name == N2
    (moved,) = entity.changes
    assert (moved.op, moved.place, moved.source) == ("move", "/by", "/notes/n1/by")
    assert told(moved) == [(" ", "/name", "Ann"), (" ", "/phone", "123")]


def test_the_changes_of_an_entity_come_in_the_order_they_were_asked_for() -> None:
    """Indexes move with every change before: in another order they would name other items."""
    operations = (
        {"op": "remove", "path": "/notes/n1/tags/1"},
        {"op": "replace", "path": "/notes/n2/text", "value": "2"},
        {"op": "add", "path": "/notes/n1/tags/0", "value": "z"},
        {"op": "remove", "path": "/notes/n1/by"},
    )
    first, second = diff_of(previewed(*operations), Role.OWNER)
    assert (first.name, second.name) == (N1, N2)
    assert [(each.op.value, each.place) for each in first.changes] == [
        ("remove", "/tags/1"),
        ("add", "/tags/0"),
        ("remove", "/by"),
    ]


def test_a_role_is_told_what_its_view_has_and_no_more() -> None:
    """CONTRACTS §3-entry: the shape stays, the value does not; the owner is told it."""
    hides = (Redaction("notes", "/by/phone", frozenset({Role.OWNER, Role.OPERATOR})),)
    preview = previewed({"op": "remove", "path": "/notes/n1"}, hides=hides)
    for role in (Role.APPROVER, Role.VIEWER):
        change = only(preview, role)
        assert change.is_redacted
        assert ("-", "/by/phone", "[redacted]") in told(change)
        assert "123" not in repr(change)
        assert "123" not in json.dumps(role_entries(preview, role))
    for role in (Role.OWNER, Role.OPERATOR):
        change = only(preview, role)
        assert not change.is_redacted
        assert ("-", "/by/phone", "123") in told(change)


def test_what_lies_deep_is_told_as_one_value() -> None:
    """However deep a module nests it: the work is bounded, and nothing of it is left out."""
    deep: Any = "bottom"
    for _ in range(50):
        deep = {"x": deep}
    ((_, place, value),) = told(only(previewed({"op": "add", "path": "/notes/n3", "value": deep})))
    assert place == "/x" * MOST_LEVELS
    assert "bottom" in json.dumps(value)


def test_what_comes_back_is_told_by_entity() -> None:
    """CONTRACTS §3-rollback: what was added goes, what was removed comes, and what was changed is as before."""
    operations = read_operations(
        [
            {"op": "add", "path": "/notes/n3", "value": "three"},
            {"op": "remove", "path": "/notes/n2"},
            {"op": "replace", "path": "/notes/n1/text", "value": "1"},
        ]
    )
    writes = worked_out(BEFORE, operations).writes
    back: tuple[DiffEntity, ...] = diff_of_writes([each.undone for each in writes])
    assert [(each.name.entity_id, each.changes[0].op.value) for each in back] == [
        ("n1", "replace"),
        ("n2", "add"),
        ("n3", "remove"),
    ]
    assert told(back[0].changes[0]) == [("-", "/text", "1"), ("+", "/text", "one")]
    assert told(back[2].changes[0]) == [("-", "", "three")]
