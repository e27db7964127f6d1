"""The control fields of actions, each judged by itself (CONTRACTS §2, §4-h-kpi-3)."""

import json
from typing import Any

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.actioncontrols import judged_controls
from consentry.record.signofffields import CONTROL_FIELDS
from tests.declare.modulesamples import HOST, package

GOOD: dict[str, Any] = {
    "id": "add",
    "label": "Add",
    "calls": ["notes.add"],
    "mutates": ["/notes"],
    "requiresApproval": {"reason": "it adds", "level": "soft"},
    "undoCommand": "notes.remove",
    "surface": ["toolbar"],
}


def written(*actions: object, **changes: Any) -> bytes:
    """A graph of the sample's module."""
    document = {"actionGraphVersion": "1.0", "moduleId": "note-tools", "actions": actions}
    return json.dumps({**document, **changes}).encode()


def unsound(content: bytes) -> list[list[str]]:
    """The fields of each action that are not sound."""
    found = judged_controls(content, package(), HOST)
    return [[name for name in CONTROL_FIELDS if not each.fields[name]] for each in found]


def test_a_sound_action_has_five_sound_fields() -> None:
    """Whether the last three are written or left out."""
    least = {name: GOOD[name] for name in ("id", "label", "mutates")}
    assert unsound(
        written(GOOD, {**least, "id": "list", "calls": ["notes.list"], "mutates": []})
    ) == [
        [],
        [],
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("calls", "notes.add"),
        ("calls", ["notes.add", 1]),
        ("calls", ["notes.add", "notes.purge"]),
        ("mutates", None),
        ("mutates", ["notes"]),
        ("mutates", ["/settings"]),
        ("mutates", ["/notes", "/notes"]),
        ("requiresApproval", "yes"),
        ("requiresApproval", False),
        ("requiresApproval", {"level": "soft"}),
        ("requiresApproval", {"reason": "why", "level": "medium"}),
        ("undoCommand", 0),
        ("undoCommand", "notes.export-all"),
        ("surface", None),
        ("surface", ["toolbar", "toolbar"]),
        ("surface", ["statusBar"]),
    ],
)
def test_one_field_that_is_wrong_is_told_alone(field: str, value: object) -> None:
    """By the reader or by the check against package and host; what stands beside it is not blamed."""
    assert unsound(written(GOOD, {**GOOD, "id": "other", field: value})) == [[], [field]]


def test_what_is_wrong_elsewhere_hides_nothing() -> None:
    """A field that only the check finds wrong, beside an action that the reader refuses."""
    actions = [{**GOOD, "surface": 1}, {**GOOD, "id": "b", "mutates": ["/settings"]}, {"id": "c"}]
    assert unsound(written(*actions)) == [["surface"], ["mutates"], ["calls", "mutates"]]


def test_what_is_wrong_with_other_fields_is_not_theirs() -> None:
    """An id, a label, the module that the graph is of."""
    assert unsound(written({**GOOD, "id": "", "label": 1}, moduleId="other-one")) == [[]]


def test_a_field_that_is_there_twice_is_not_sound() -> None:
    """Whichever of the two was meant."""
    content = written(GOOD).replace(b'"calls"', b'"surface": [], "calls"', 1)
    assert unsound(content) == [["surface"]]


@pytest.mark.parametrize(
    "content",
    [
        written("add"),
        written(GOOD, actionGraphVersion="2.0"),
        written(GOOD).replace(b'"actions"', b'"actions": [], "actions"'),
        written({**GOOD, "mutates": ["x"] * 120}),
    ],
)
def test_what_is_wrong_as_a_whole_is_wrong_with_every_field(content: bytes) -> None:
    """No object, a version that nobody knows, actions twice, more wrong than is listed."""
    assert unsound(content) == [list(CONTROL_FIELDS)]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", written(actions={}), written(GOOD).decode().encode("utf-16")]
)
def test_what_has_no_actions_raises(content: bytes) -> None:
    """There is nothing to be judged."""
    with pytest.raises(BadDocument):
        judged_controls(content, package(), HOST)
