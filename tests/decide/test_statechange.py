"""What operations do to a document: against a plain reference, there and back (CONTRACTS §3-entry, §3-rollback)."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadInput
from consentry.base.frozenjson import thawed
from consentry.decide.statechange import (
    ABSENT,
    MOST_OPERATIONS,
    Absent,
    EntityName,
    EntityWrite,
    entities_of,
    is_same,
    pointer,
    read_operations,
    worked_out,
)
from tests.decide import changestates
from tests.decide.changestates import documents, flat, nested, operations_on, values

ONE = EntityName("notes", "n1")


def after(entities: dict[EntityName, Any], *asked: Any) -> dict[EntityName, Any]:
    """The entities after these operations."""
    found = dict(entities)
    for each in worked_out(entities, read_operations(list(asked))).writes:
        if isinstance(each.after, Absent):
            found.pop(each.name)
        else:
            found[each.name] = thawed(each.after)
    return found


def wrong(entities: dict[EntityName, Any], *asked: Any) -> str:
    """Where the error says that it is, and what it says."""
    with pytest.raises(BadInput) as raised:
        worked_out(entities, read_operations(list(asked)))
    assert raised.value.code == "tx-operation"
    assert raised.value.where is not None
    return f"{raised.value.where.field}: {raised.value.message}"


# Against the reference.


@given(st.data())
def test_operations_do_what_the_rules_say(data: st.DataObject) -> None:
    """CONTRACTS §3-entry: whole documents, every operation, and every one that does not fit."""
    entities: Any = data.draw(documents)
    asked = data.draw(operations_on(entities))
    if not asked:
        return
    expected, fails_at = nested(entities), None
    for at, each in enumerate(asked):
        try:
            expected = changestates.done(expected, each)
        except changestates.CannotBe:
            fails_at = at
            break
    known = flat(nested(entities))
    if fails_at is not None:
        assert wrong(known, *asked).startswith(f"operations[{fails_at}]: ")
    else:
        assert after(known, *asked) == flat(expected)


@given(st.data())
def test_what_is_undone_is_as_it_was(data: st.DataObject) -> None:
    """CONTRACTS §3-rollback: the journal alone leads back, whatever was done."""
    entities: Any = data.draw(documents)
    asked = data.draw(operations_on(entities))
    known = flat(nested(entities))
    try:
        done = worked_out(known, read_operations(asked)) if asked else None
    except BadInput:
        return
    there = dict(known)
    for one in () if done is None else done.writes:
        assert is_same(there.get(one.name, ABSENT), one.before)
        _put(there, one)
    for one in () if done is None else done.writes:
        back = EntityWrite.from_json(one.undone.to_json())
        assert is_same(there.get(back.name, ABSENT), back.before)
        _put(there, back)
    assert there == known


def _put(entities: dict[EntityName, Any], write: EntityWrite) -> None:
    if isinstance(write.after, Absent):
        entities.pop(write.name)
    else:
        entities[write.name] = thawed(write.after)


@given(values)
def test_a_value_is_not_changed_on_its_way(value: Any) -> None:
    """CONTRACTS §3-entry: what is added is what stands there, and in the entry."""
    done = worked_out({}, read_operations([{"op": "add", "path": "/notes/n1", "value": value}]))
    assert is_same(done.writes[0].after, value)
    assert is_same(done.changes[0].after, value)


# Single rules.


def test_null_is_there_and_absent_is_not() -> None:
    """CONTRACTS §3-hash: “explicit nulls”: an entity that is null is no free place, and removing it is a change."""
    assert after({}, {"op": "add", "path": "/notes/n1", "value": None}) == {ONE: None}
    assert "is there already" in wrong({ONE: None}, {"op": "add", "path": "/notes/n1", "value": 1})
    done = worked_out({ONE: None}, read_operations([{"op": "remove", "path": "/notes/n1"}]))
    assert done.writes == (EntityWrite(ONE, None, ABSENT),)
    assert done.writes[0].to_json()["before"] == {"value": None}
    assert done.writes[0].to_json()["after"] is None


def test_what_is_left_as_it_is_is_no_write() -> None:
    """CONTRACTS §3-preview: there and back within one change touches nothing."""
    asked = [
        {"op": "add", "path": "/notes/n2", "value": 1},
        {"op": "remove", "path": "/notes/n2"},
        {"op": "replace", "path": "/notes/n1", "value": {"a": 1}},
    ]
    done = worked_out({ONE: {"a": 1}}, read_operations(asked))
    assert (len(done.changes), done.writes) == (3, ())


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"op": "add", "path": "/notes/n1/-", "value": "z"}, ["a", "b", "z"]),
        ({"op": "add", "path": "/notes/n1/2", "value": "z"}, ["a", "b", "z"]),
        ({"op": "add", "path": "/notes/n1/0", "value": "z"}, ["z", "a", "b"]),
        ({"op": "remove", "path": "/notes/n1/0"}, ["b"]),
        ({"op": "replace", "path": "/notes/n1/1", "value": None}, ["a", None]),
        ({"op": "move", "from": "/notes/n1/0", "path": "/notes/n1/1"}, ["b", "a"]),
        ({"op": "move", "from": "/notes/n1/1", "path": "/notes/n1/-"}, ["a", "b"]),
    ],
)
def test_places_in_lists(asked: Any, expected: list[Any]) -> None:
    """CONTRACTS §3-entry: “path (JSON pointer)”: before the one at that place, or at the end."""
    assert after({ONE: ["a", "b"]}, asked) == {ONE: expected}


@pytest.mark.parametrize(
    "step", ["2", "00", "01", "-1", "+0", "1e0", " 0", "\u0660", "²", "9" * 400, "-", "", "x"]
)
def test_what_is_no_place_in_a_list(step: str) -> None:
    """CONTRACTS §3-entry: “path (JSON pointer)”: RFC 6901 has one spelling of each; the end is no item."""
    for asked in (
        {"op": "remove", "path": f"/notes/n1/{step}"},
        {"op": "replace", "path": f"/notes/n1/{step}", "value": 1},
        {"op": "move", "from": f"/notes/n1/{step}", "path": "/notes/n2"},
        {"op": "add", "path": f"/notes/n1/{step}/x", "value": 1},
    ):
        assert wrong({ONE: ["a", "b"]}, asked).endswith("is not there")


@pytest.mark.parametrize(
    ("path", "key"),
    [("~0", "~"), ("~1", "/"), ("~01", "~1"), ("~10", "/0"), ("", ""), ("ü/", None)],
)
def test_escapes_are_undone_once(path: str, key: str | None) -> None:
    """CONTRACTS §3-entry: “path (JSON pointer)”: `~01` is `~1`, and a name may be empty inside an entity."""
    asked = {"op": "add", "path": f"/notes/n1/{path}", "value": 1}
    if key is None:
        assert "is not there" in wrong({ONE: {}}, asked)
    else:
        assert after({ONE: {}}, asked) == {ONE: {key: 1}}
        done = worked_out({ONE: {}}, read_operations([asked]))
        assert done.changes[0].operation.path == asked["path"]


@given(st.lists(st.text(max_size=5), max_size=5))
def test_a_pointer_leads_back_to_its_names(names: list[str]) -> None:
    """CONTRACTS §3-entry: whatever the names are."""
    text = pointer(names)
    back = [each.replace("~1", "/").replace("~0", "~") for each in text.split("/")[1:]]
    assert back == names


def test_a_move_takes_between_entities_and_types() -> None:
    """CONTRACTS §3-entry: of a move both ends are told, with the value at either."""
    asked = {"op": "move", "from": "/notes/n1/a", "path": "/tags/t1"}
    done = worked_out({ONE: {"a": [1], "b": 2}}, read_operations([asked]))
    assert thawed(done.changes[0].before) == {"pointer": "/notes/n1/a", "value": [1]}
    assert thawed(done.changes[0].after) == {"pointer": "/tags/t1", "value": [1]}
    assert entities_of(read_operations([asked])) == {ONE, EntityName("tags", "t1")}
    assert after({ONE: {"a": [1], "b": 2}}, asked) == {ONE: {"b": 2}, EntityName("tags", "t1"): [1]}


# How much, and in how many steps.


def _calls(act: Callable[[], object]) -> int:
    """How many functions are called while it acts."""
    count = 0

    def see(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(see)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def test_the_steps_grow_with_the_operations() -> None:
    """CONTRACTS §3-preview: four times the operations, not more than about four times the calls."""

    def work(size: int) -> int:
        asked = [{"op": "add", "path": f"/notes/n{n}", "value": {"text": "x"}} for n in range(size)]
        operations = read_operations(asked)
        return _calls(lambda: worked_out({}, operations))

    assert work(2_000) < 4.5 * work(500)


def test_the_most_operations_are_worked_out_and_no_more() -> None:
    """CONTRACTS §3-preview: 20,000 in one entity; one more is refused before anything is looked at."""
    asked = [{"op": "add", "path": "/notes/n1/-", "value": n} for n in range(MOST_OPERATIONS)]
    [write] = worked_out({ONE: []}, read_operations(asked)).writes
    assert len(write.after) == MOST_OPERATIONS  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"20,001 operations are more than 20,000"):
        read_operations([*asked, asked[0]])


def test_what_moves_carry_has_a_bound() -> None:
    """CONTRACTS §3-preview: a large value that is moved to and fro is refused, and not written down a thousand times."""
    ways = ["/notes/n1", "/notes/n2"]
    asked = [{"op": "move", "from": ways[n % 2], "path": ways[1 - n % 2]} for n in range(1000)]
    assert "with those before it" in wrong({ONE: "x" * 1_000_000}, *asked)
    assert after({ONE: "small"}, *asked) == {ONE: "small"}


def test_what_is_taken_away_or_replaced_has_a_bound() -> None:
    """CONTRACTS §3-preview: what is shown as it was counts, too, however little was asked for."""
    names = [f"/notes/n{n}" for n in range(40)]
    entities = {EntityName("notes", f"n{n}"): "x" * 1_000_000 for n in range(40)}
    gone = [{"op": "remove", "path": name} for name in names]
    other = [{"op": "replace", "path": name, "value": 1} for name in names]
    for asked in (gone, other):
        assert "with those before it" in wrong(entities, *asked)
        assert worked_out(entities, read_operations(asked[:20])).writes
