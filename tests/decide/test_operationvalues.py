"""What an operation asks for stays what was asked, whatever the others of the same change do to it."""

from typing import Any

from consentry.base.frozenjson import thawed
from consentry.decide.statechange import EntityName, Operation, read_operations, worked_out

ASKED: list[dict[str, Any]] = [
    {"op": "add", "path": "/notes/n1", "value": {"text": "one", "tags": ["a"]}},
    {"op": "add", "path": "/notes/n1/tags/-", "value": "b"},
    {"op": "replace", "path": "/notes/n1/tags", "value": ["c"]},
    {"op": "remove", "path": "/notes/n1/tags/0"},
]


def asked(operations: tuple[Operation, ...]) -> list[Any]:
    """As they are kept, without what every one of them has."""
    kept = [dict(each.to_json()) for each in operations]
    for each in kept:
        del each["scope"]
    return kept


def test_a_later_operation_does_not_reach_into_an_earlier_one() -> None:
    """CONTRACTS §3-preview: each entry tells what that operation puts there, and the sum is in the entity."""
    operations = read_operations(ASKED)
    done = worked_out({}, operations)
    assert [thawed(each.after) for each in done.changes] == [
        {"text": "one", "tags": ["a"]},
        "b",
        ["c"],
        None,
    ]
    (write,) = done.writes
    assert write.name == EntityName("notes", "n1")
    assert thawed(write.after) == {"text": "one", "tags": []}  # type: ignore[arg-type]


def test_what_was_asked_for_can_be_worked_out_again() -> None:
    """CONTRACTS §3-attempt: the operations that are kept for a new preview are those that were asked for."""
    operations = read_operations(ASKED)
    worked_out({}, operations)
    assert asked(operations) == ASKED
    assert worked_out({}, read_operations(asked(operations))) == worked_out({}, operations)
