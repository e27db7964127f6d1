"""Reading an action graph: its shape, its defaults, and everything that can be wrong with it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given

from consentry.base.errors import BadDocument
from consentry.declare.actiongraph import (
    KEYS,
    KEYS_OF_ACTION,
    MOST_BYTES,
    ActionGraph,
    Approval,
    GraphAction,
    GraphSurface,
    action_graph_text,
    read_action_graph,
)
from consentry.declare.hostdescription import ApprovalLevel, ApprovalRule
from tests.declare.actiongraphs import GRAPHS

LEAST: dict[str, Any] = {"id": "tidy", "label": "Tidy", "calls": ["notes.sort"], "mutates": []}
FULL: dict[str, Any] = {
    "id": "tidy",
    "label": "Tidy up",
    "calls": ["notes.sort", "notes.list", "notes.sort"],
    "mutates": ["/notes", "/a~1b/c~0d"],
    "requiresApproval": {"reason": "it moves notes", "level": "soft", "approver": "operator"},
    "undoCommand": "notes.unsort",
    "surface": ["toolbar", "panel", "commandPalette", "automation", "background"],
}
# One of every kind of JSON value.
KINDS: tuple[Any, ...] = (None, True, 0, 1.5, "text", [], {})


def document(*actions: Any, **fields: Any) -> bytes:
    """A graph with these actions, and these fields of its own instead."""
    whole = {"actionGraphVersion": "1.0", "moduleId": "tidy-notes", "actions": actions, **fields}
    return json.dumps(whole).encode()


def read(*actions: Any, **fields: Any) -> ActionGraph:
    """The graph that was read."""
    return read_action_graph(document(*actions, **fields), "graph.json")


def problems(content: bytes) -> list[str]:
    """What is wrong, without the name of the file."""
    with pytest.raises(BadDocument) as caught:
        read_action_graph(content, "graph.json")
    return [str(each).removeprefix("graph.json:") for each in caught.value.problems]


def fields_of(content: bytes) -> list[str | None]:
    """Where something is wrong."""
    with pytest.raises(BadDocument) as caught:
        read_action_graph(content, "graph.json")
    assert all(each.where.line and each.where.column for each in caught.value.problems)
    return [each.where.field for each in caught.value.problems]


def test_a_full_action() -> None:
    """CONTRACTS §2-shape: every field as it is written; calls keep their order and may repeat."""
    assert read(FULL).actions == (
        GraphAction(
            "tidy",
            "Tidy up",
            ("notes.sort", "notes.list", "notes.sort"),
            ("/notes", "/a~1b/c~0d"),
            ApprovalRule("it moves notes", ApprovalLevel.SOFT, "operator"),
            "notes.unsort",
            tuple(GraphSurface),
        ),
    )
    assert read(FULL).module_id == "tidy-notes"
    assert read(FULL).action("tidy") is not None
    assert read(FULL).action("Tidy") is None


def test_what_is_missing() -> None:
    """CONTRACTS §2-defaults: no approval, no undo, and the command palette; and all of it is written."""
    graph = read(LEAST)
    (found,) = graph.actions
    assert found.requires_approval is False
    assert found.undo_command is None
    assert found.surface == (GraphSurface.COMMAND_PALETTE,)
    unsaid = {"requiresApproval": False, "undoCommand": None, "surface": ["commandPalette"]}
    assert graph.to_json()["actions"] == [LEAST | unsaid]


def test_an_undo_that_is_null_is_none() -> None:
    """CONTRACTS §2-calls: `undoCommand` is a command id or null."""
    assert read(LEAST | {"undoCommand": None}).actions[0].undo_command is None
    assert read(LEAST | {"undoCommand": "a.b"}).actions[0].undo_command == "a.b"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (True, True),
        (False, False),
        ({"reason": "r", "level": "hard"}, ApprovalRule("r", ApprovalLevel.HARD)),
        ({"reason": "r", "level": "soft"}, ApprovalRule("r", ApprovalLevel.SOFT)),
        (
            {"reason": "r", "level": "soft", "approver": None, "extra": 1},
            ApprovalRule("r", ApprovalLevel.SOFT),
        ),
        (
            {"reason": "r", "level": "hard", "approver": "owner"},
            ApprovalRule("r", ApprovalLevel.HARD, "owner"),
        ),
    ],
)
def test_both_ways_to_require_approval(written: Any, meant: Approval) -> None:
    """CONTRACTS §2-approval: a flag stays a flag, a rule a rule."""
    graph = read(LEAST | {"requiresApproval": written})
    assert graph.actions[0].requires_approval == meant
    assert type(graph.actions[0].requires_approval) is type(meant)
    assert read_action_graph(action_graph_text(graph), "again") == graph


@pytest.mark.parametrize(
    ("written", "places"),
    [
        ({}, ["reason", "level"]),
        ({"reason": "", "level": "soft"}, ["reason"]),
        ({"reason": "r", "level": "Soft"}, ["level"]),
        ({"reason": "r", "level": "medium"}, ["level"]),
        ({"reason": "r", "level": "soft", "approver": ""}, ["approver"]),
        ({"reason": 1, "level": True, "approver": []}, ["reason", "level", "approver"]),
    ],
)
def test_a_rule_that_is_none(written: Any, places: list[str]) -> None:
    """CONTRACTS §2-approval: a reason and one of two levels, and nothing is guessed."""
    found = fields_of(document(LEAST | {"requiresApproval": written}))
    assert sorted(map(str, found)) == sorted(f"actions[0].requiresApproval.{x}" for x in places)


@pytest.mark.parametrize("surface", GraphSurface)
def test_each_surface(surface: GraphSurface) -> None:
    """CONTRACTS §2-surface: the five words, of which two have no person behind them."""
    found = read(LEAST | {"surface": [surface.value]}).actions[0].surface
    assert found == (surface,)
    assert surface.is_automation is (surface.value in ("automation", "background"))


@pytest.mark.parametrize(
    "word", ["Toolbar", "command-palette", "commandpalette", "*", "", " panel"]
)
def test_no_other_surface(word: str) -> None:
    """CONTRACTS §2-surface: there are five, and they are exact."""
    assert [each.value for each in GraphSurface] == FULL["surface"]
    assert fields_of(document(LEAST | {"surface": [word]})) == ["actions[0].surface[0]"]


def test_extra_fields_are_ignored_everywhere() -> None:
    """CONTRACTS §2-shape: in the document, in an action and in a rule, whatever they hold."""
    rule = {**FULL["requiresApproval"], "until": [1, {"a": None}]}
    extra = read(FULL | {"requiresApproval": rule, "icon": {"deep": [[]]}}, comment="x", x=None)
    assert extra == read(FULL)


def test_an_extra_field_must_still_be_sound() -> None:
    """CONTRACTS §2-shape: ignored is what it means, not what no document may contain."""
    assert fields_of(
        b'{"actionGraphVersion":"1.0","moduleId":"abc","actions":[],"x":"\\u0000"}'
    ) == ["x"]
    assert fields_of(b'{"actionGraphVersion":"1.0","moduleId":"abc","actions":[],"x":1,"x":1}') == [
        "x"
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ["1:1: the document is empty; write the document, or remove the file"]),
        (b"[]", ["1:1: this is a list, and a mapping is meant; write `key: value` lines; `{}` has none"]),
        (b"{}", ["1:1: actionGraphVersion: this key is missing; add `actionGraphVersion:`", "1:1: moduleId: this key is missing; add `moduleId:`", "1:1: actions: this key is missing; add `actions:`"]),
        (b"actionGraphVersion: '1.0'", ["1:1: this is not JSON: a value is expected; correct the line, or the one before it"]),
        (b'{"actionGraphVersion": "1.1",\n "moduleId": "A", "actions": [\n{}]}', [
            '1:24: actionGraphVersion: version 1.1 of this document is not known, only 1.0; write "1.0" if it follows that, or install a release that knows it',
            "2:14: moduleId: `A` is not the id of a module; use a to z, digits and `-`, from 3 to 64",
            "3:1: actions[0].id: this key is missing; add `id:`",
            "3:1: actions[0].label: this key is missing; add `label:`",
            "3:1: actions[0].calls: this key is missing; add `calls:`",
            "3:1: actions[0].mutates: this key is missing; add `mutates:`",
        ]),
    ],
)  # fmt: skip
def test_wrong(content: bytes, said: list[str]) -> None:
    """CONTRACTS §2-shape: all that is wrong at once, each with its line, column and field."""
    assert problems(content) == said


def test_one_id_for_one_action() -> None:
    """CONTRACTS §2-shape: also where all stands in one line; the audit log names actions by id."""
    found = problems(document(LEAST, LEAST | {"id": "other"}, LEAST))
    assert len(found) == 1
    assert "actions[2].id: an action with the id `tidy` is already in line 1" in found[0]


@pytest.mark.parametrize("wrong", ["", " a", "a ", "a\tb", "a\u202eb", "a\nb", "x" * 201])
def test_ids_can_be_seen_and_are_short(wrong: str) -> None:
    """CONTRACTS §2-calls: of actions and of commands; an id of 200 is read."""
    assert fields_of(document(LEAST | {"id": wrong})) == ["actions[0].id"]
    assert fields_of(document(LEAST | {"calls": ["a", wrong]})) == ["actions[0].calls[1]"]
    assert fields_of(document(LEAST | {"undoCommand": wrong})) == ["actions[0].undoCommand"]
    assert read(LEAST | {"id": "x" * 200}).actions[0].id == "x" * 200


@pytest.mark.parametrize(
    "wrong", ["", "notes", "notes/a", "/a~", "/a~2", "/a~~1", "#/a", "/" * 1001]
)
def test_state_paths_are_pointers(wrong: str) -> None:
    """CONTRACTS §2-calls: anything else names no place in the state."""
    assert fields_of(document(LEAST | {"mutates": ["/a", wrong]})) == ["actions[0].mutates[1]"]


@pytest.mark.parametrize("key", ["mutates", "surface"])
def test_a_set_names_nothing_twice(key: str) -> None:
    """CONTRACTS §2-shape: the second one is refused."""
    twice = [*FULL[key], FULL[key][0]]
    assert fields_of(document(FULL | {key: twice})) == [f"actions[0].{key}[{len(twice) - 1}]"]


def retyped() -> Iterator[Any]:
    """Every field of the format, with every kind of value that it cannot have."""
    allowed: dict[str, tuple[type, ...]] = {
        "actions": (list,),
        "calls": (list,),
        "mutates": (list,),
        "surface": (list,),
        "requiresApproval": (bool, dict),
        "undoCommand": (str, type(None)),
        "moduleId": (str,),
        "id": (str,),
        "label": (str,),
    }
    for key in (*KEYS, *KEYS_OF_ACTION):
        for value in KINDS:
            if type(value) not in allowed.get(key, ()):
                yield pytest.param(key, value, id=f"{key}-{type(value).__name__}")


@pytest.mark.parametrize(("key", "value"), list(retyped()))
def test_each_field_retyped(key: str, value: Any) -> None:
    """CONTRACTS §2-shape: one problem, at that field, the same each time."""
    is_inner = key in KEYS_OF_ACTION
    content = document(FULL | {key: value}) if is_inner else document(FULL, **{key: value})
    assert fields_of(content) == [f"actions[0].{key}" if is_inner else key]
    assert problems(content) == problems(content)


@pytest.mark.parametrize("key", ["calls", "mutates", "surface"])
@pytest.mark.parametrize("value", [None, True, 0, 1.5, [], {}])
def test_each_item_retyped(key: str, value: Any) -> None:
    """CONTRACTS §2-shape: an item of a list is told at its place in the list."""
    assert fields_of(document(FULL | {key: [*FULL[key], value]})) == [
        f"actions[0].{key}[{len(FULL[key])}]"
    ]


@pytest.mark.parametrize(
    "label",
    ["<script>alert(1)</script>", "a\u202eb", "\x1b[2J", "]]>", "x" * 1_000_000, "\U0001f600"],
)
def test_a_label_is_kept_as_it_came(label: str) -> None:
    """CONTRACTS §2-shape: it is escaped where it is shown, never here."""
    assert read(LEAST | {"label": label}).actions[0].label == label


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"x": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", "nested deeper"),
        (b"[" + b"0," * 250_000 + b"0]", "more than 200,000 values"),
        (b" " * (MOST_BYTES + 1), "bytes"),
        (b'{"a": NaN}', "not JSON"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        ('{"a": "\u202e"}'.encode(), "U+202E"),
        (b'{"a": "\xff"}', "not UTF-8"),
    ],
)
def test_what_no_document_may_be(content: bytes, said: str) -> None:
    """CONTRACTS §2-shape: too deep, too large, or not JSON: refused, in bounded time."""
    assert any(said in each for each in problems(content))


@given(GRAPHS)
def test_what_is_written_is_read(graph: ActionGraph) -> None:
    """CONTRACTS §2-shape: `read(write(g)) == g`, and every key is written."""
    written = action_graph_text(graph)
    assert read_action_graph(written, "graph.json") == graph
    assert json.loads(written) == graph.to_json()
    assert all(set(each) == set(KEYS_OF_ACTION) for each in json.loads(written)["actions"])
    assert set(json.loads(written)) == set(KEYS)
