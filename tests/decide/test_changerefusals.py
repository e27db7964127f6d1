"""Every operation that is wrong, hostile ones among them: one clear error, that says which and where."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadInput
from consentry.decide.statechange import MOST_BYTES, read_operations, worked_out
from tests.decide.test_statechange import ONE, wrong

GOOD = {"op": "add", "path": "/notes/n2", "value": 1}


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ("add", "operations[1]:"),
        (None, "operations[1]:"),
        ([], "operations[1]:"),
        ({}, "operations[1].op:"),
        ({"op": "copy", "path": "/a/b"}, "operations[1].op:"),
        ({"op": "ADD", "path": "/a/b", "value": 1}, "operations[1].op:"),
        ({"op": ["add"], "path": "/a/b", "value": 1}, "operations[1].op:"),
        ({"op": "add", "path": "/a/b"}, "operations[1].value:"),
        ({"op": "remove", "path": "/a/b", "value": None}, "operations[1].value:"),
        ({"op": "move", "path": "/a/b", "from": "/c/d", "value": 1}, "operations[1].value:"),
        ({"op": "move", "path": "/a/b"}, "operations[1].from:"),
        ({"op": "add", "path": "/a/b", "from": "/c/d", "value": 1}, "operations[1].from:"),
        ({"op": "move", "path": "/a/b", "from": "/a/b"}, "operations[1].from:"),
        ({"op": "move", "path": "/a/b/c", "from": "/a/b"}, "operations[1].from:"),
        ({"op": "move", "path": "/a/b", "from": None}, "operations[1].from:"),
        ({"op": "move", "path": "/a/b", "from": "/a"}, "operations[1].from:"),
        ({"op": "remove"}, "operations[1].path:"),
        ({"op": "remove", "path": 7}, "operations[1].path:"),
        ({"op": "remove", "path": ""}, "operations[1].path:"),
        ({"op": "remove", "path": "/"}, "operations[1].path:"),
        ({"op": "remove", "path": "/notes"}, "operations[1].path:"),
        ({"op": "remove", "path": "notes/n1"}, "operations[1].path:"),
        ({"op": "remove", "path": "/notes/"}, "operations[1].path:"),
        ({"op": "remove", "path": "//n1"}, "operations[1].path:"),
        ({"op": "remove", "path": "/notes/~2"}, "operations[1].path:"),
        ({"op": "remove", "path": "/notes/~"}, "operations[1].path:"),
        ({"op": "remove", "path": "/a/b", "scope": "local"}, "operations[1].scope:"),
        ({"op": "remove", "path": "/a/b", "scope": None}, "operations[1].scope:"),
        ({"op": "remove", "path": "/a/b", "because": 1}, "operations[1].because:"),
        ({"op": "remove", "path": "/notes/n9"}, "operations[1]:"),
        ({"op": "replace", "path": "/notes/n9", "value": 1}, "operations[1]:"),
        ({"op": "add", "path": "/notes/n1", "value": 1}, "operations[1]:"),
        ({"op": "add", "path": "/notes/n1/x/y", "value": 1}, "operations[1]:"),
        ({"op": "add", "path": "/notes/n1/text/y", "value": 1}, "operations[1]:"),
        ({"op": "move", "path": "/notes/n1", "from": "/notes/n2"}, "operations[1]:"),
    ],
)
def test_a_wrong_operation_is_named(asked: Any, where: str) -> None:
    """CONTRACTS §3-preview: which of them, which part of it, and nothing of the others is done."""
    assert wrong({ONE: {"text": "t"}}, GOOD, asked).startswith(where)


@pytest.mark.parametrize(
    "name",
    [
        "n\n1",
        "n\t",
        "n\0",
        "\x1b[31m",
        "n\x7f",
        "\u202en",
        "n\u200b",
        "\ufeffn",
        "n\u2028",
        "x" * 201,
    ],
)
@pytest.mark.parametrize("place", ["/{}/n1", "/notes/{}"])
def test_a_name_that_does_not_show_is_no_name(name: str, place: str) -> None:
    """CONTRACTS §3-entry: a type or id is printable and has at most 200 letters: people approve by it."""
    asked = {"op": "remove", "path": place.format(name)}
    assert wrong({}, asked).startswith("operations[0].path: a type or id has 1 to 200 printable")


@pytest.mark.parametrize("name", ["x" * 200, "naïve name", "名前", "n.1", "-", "0"])
def test_other_names_are_taken_as_they_are(name: str) -> None:
    """CONTRACTS §3-entry: no name is changed on its way."""
    [one] = read_operations([{"op": "remove", "path": f"/notes/{name}"}])
    assert (one.entity.entity_id, one.inside) == (name, ())


@pytest.mark.parametrize("given_list", [None, {}, "x", 0, [], ()])
def test_no_list_is_no_change(given_list: Any) -> None:
    """CONTRACTS §3-preview: also an empty one."""
    with pytest.raises(BadInput, match="at least one operation") as raised:
        read_operations(given_list)
    assert raised.value.where is not None
    assert raised.value.where.field == "operations"


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53, b"x", {1}, object(), "\ud800", {1: "x"}]
)
def test_what_is_no_json_is_refused(value: Any) -> None:
    """CONTRACTS §3-hash: what has no canonical form has no hash."""
    with pytest.raises(BadInput) as raised:
        read_operations([{**GOOD, "value": value}])
    assert raised.value.code == "canonical-json"


def test_too_much_at_once_is_refused() -> None:
    """CONTRACTS §3-preview: bytes, levels, and levels that only come together."""
    with pytest.raises(BadInput, match="bytes in one change"):
        read_operations([{**GOOD, "value": "x" * MOST_BYTES}])
    deep: Any = 1
    for _ in range(61):
        deep = [deep]
    asked = [{**GOOD, "value": deep}, {**GOOD, "path": "/notes/n2/0/0/0/0/-", "value": deep}]
    assert wrong({}, *asked).startswith("operations: `/notes/n2`:")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["op", "path", "value", "from", "scope", "x"])
                | st.text(max_size=3),
                inner | st.sampled_from(["add", "move", "remove", "/notes/n1", "/a/b/-"]),
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_whatever_comes_is_done_or_refused(given_list: Any) -> None:
    """CONTRACTS §3-preview: one kind of error, and no other."""
    try:
        worked_out({ONE: {"text": []}}, read_operations(given_list))
    except BadInput as problem:
        code = problem.code
    else:
        code = None
    assert code in (None, "tx-operation", "canonical-json")
