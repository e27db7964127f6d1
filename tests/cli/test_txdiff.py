"""The lines of a diff: what is too long for one is said to be, and no cut hides what differs (CONTRACTS §3-preview)."""

from typing import Any

import pytest

from consentry.cli.txdiff import DiffLimits, diff_lines, is_cut
from consentry.decide.identity import Role
from consentry.decide.previewdiff import DiffEntity, diff_of
from consentry.decide.statechange import EntityName
from tests.decide.test_previewdiff import previewed

N1 = EntityName("notes", "n1")
SHORT = DiffLimits(columns=60)


def diff(before: Any, after: Any) -> tuple[DiffEntity, ...]:
    """What a note is replaced by."""
    asked = {"op": "replace", "path": "/notes/n1", "value": after}
    return diff_of(previewed(asked, before={N1: before}), Role.OWNER)


def lines(found: tuple[DiffEntity, ...]) -> list[str]:
    """As they are shown."""
    return [each.plain() for each in diff_lines(found, SHORT)]


def test_what_differs_in_the_middle_of_long_texts_is_shown() -> None:
    """Their own lines are cut there, and look the same."""
    found = diff({"to": f"{'a' * 99}pay 10{'b' * 98}"}, {"to": f"{'a' * 99}pay 99{'b' * 98}"})
    _, _, removed, added, *rest = lines(found)
    assert removed.strip()[1:] == added.strip()[1:]
    assert rest == [
        "      (alike in the first 103 letters and the last 98; between:)",
        '        - "10"',
        '        + "99"',
    ]
    assert is_cut(found, SHORT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a": "one"}, {"a": "two"}),
        ({"a": "x" * 99}, {"a": 1}),
        ({"a": "x" * 99}, {"b": "y" * 99}),
        ("one", ["one"]),
    ],
)
def test_nothing_more_is_said_of_what_is_short_or_of_other_kinds(before: Any, after: Any) -> None:
    """Only two texts of one place are held against each other."""
    assert not any("alike" in each for each in lines(diff(before, after)))


@pytest.mark.parametrize(
    ("asked", "cut"),
    [
        ({"path": "/notes/n2", "value": "short"}, False),
        ({"path": "/notes/n2", "value": "x" * 61}, True),
        ({"path": f"/notes/{'n' * 200}", "value": 1}, False),
        ({"path": f"/notes/{'页' * 101}", "value": 1}, True),
        ({"path": f"/notes/n1/{'n' * 201}", "value": 1}, True),
        ({"path": "/notes/n2", "value": {"n" * 201: 1}}, True),
        ({"path": "/notes/n2", "value": list(range(101))}, True),
    ],
)
def test_it_is_known_whether_anything_is_left_out(asked: dict[str, Any], cut: bool) -> None:  # noqa: FBT001 - a table
    """Of a name, of a place, of a value, and of the values of one change."""
    found = diff_of(previewed({"op": "add", **asked}, before={N1: {}}), Role.OWNER)
    assert is_cut(found, SHORT) is cut
