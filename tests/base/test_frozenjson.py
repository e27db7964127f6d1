"""Frozen JSON: a deep copy that whoever holds it cannot change, and that is JSON all the way down."""

import copy
import json
import pickle
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import Json, canonical_json
from consentry.base.errors import BadInput
from consentry.base.frozenjson import MOST_INTEGER, FrozenObject, frozen, thawed

_texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
_documents = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-MOST_INTEGER, MOST_INTEGER),
        st.floats(allow_nan=False, allow_infinity=False),
        _texts,
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
)
STATE = {"notes": [{"title": "first", "tags": ["a", "b"]}], "count": 1, "open": None}


def frozen_state() -> Any:
    """A frozen copy of a small state, for a test to attack."""
    return frozen(copy.deepcopy(STATE))


def refusal(value: object) -> BadInput:
    """How it is refused."""
    with pytest.raises(BadInput) as caught:
        frozen(value)
    assert caught.value.code == "canonical-json"
    return caught.value


@given(_documents)
def test_frozen_and_thawed_again_is_the_same_document(value: Json) -> None:
    """Nothing is lost: thawed, it is what was frozen, and has the same canonical JSON before and after."""
    held = frozen(value)
    assert thawed(held) == value
    assert frozen(thawed(held)) == held
    assert json.loads(json.dumps(thawed(held))) == value
    assert canonical_json(held) == canonical_json(value)


def test_it_is_a_mapping_and_a_sequence_and_nothing_else() -> None:
    """MODULES §limit-read-only: a reader goes through it as through any JSON; no part is a list or a dict."""
    held = frozen_state()
    assert isinstance(held, Mapping)
    assert not isinstance(held, Sequence)
    assert isinstance(held["notes"], Sequence)
    assert isinstance(held["notes"][0], Mapping)
    assert list(held) == ["count", "notes", "open"]
    assert (len(held), "open" in held, "gone" in held) == (3, True, False)
    assert held.get("gone", 7) == 7
    assert held["notes"][0] == {"title": "first", "tags": ("a", "b")}
    assert held == frozen_state()
    assert hash(held) == hash(frozen_state())
    assert held != frozen({**STATE, "count": 2})
    assert repr(frozen({"a": [1]})) == "FrozenObject({'a': (1,)})"
    for missing in ("zzz", "", 1, None):
        with pytest.raises(KeyError):
            held[missing]


def _set_key(held: Any) -> None:
    held["new"] = 1


def _set_inner(held: Any) -> None:
    held["notes"][0]["title"] = "changed"


def _set_item(held: Any) -> None:
    held["notes"][0] = None


def _delete(held: Any) -> None:
    del held["count"]


def _set_attribute(held: Any) -> None:
    held._keys = ("count",)


def _delete_attribute(held: Any) -> None:
    del held._values


def _new_attribute(held: Any) -> None:
    held.more = 1


def _become(held: Any) -> None:
    held.__class__ = dict


@pytest.mark.parametrize(
    "attack",
    [
        _set_key,
        _set_inner,
        _set_item,
        _delete,
        _set_attribute,
        _delete_attribute,
        _new_attribute,
        _become,
        lambda held: held.update(new=1),
        lambda held: held.pop("count"),
        lambda held: held.clear(),
        lambda held: held.setdefault("new", 1),
        lambda held: held["notes"].append(1),
        lambda held: held["notes"].sort(),
        lambda held: held["notes"][0]["tags"].clear(),
    ],
)
def test_no_method_changes_what_one_holds(attack: Callable[[Any], object]) -> None:
    """MODULES §limit-read-only: whatever a holder tries, it raises, and the state is as it was."""
    held = frozen_state()
    with pytest.raises((TypeError, AttributeError)):
        attack(held)
    assert thawed(held) == STATE


class _Prying:
    """Is compared with what it wants to get hold of, and keeps whatever it is shown."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __eq__(self, other: object) -> bool:
        self.seen.append(other)
        return True

    __hash__ = object.__hash__

    def __ror__(self, other: object) -> None:
        self.seen.append(other)


def test_no_operator_hands_out_what_could_be_changed() -> None:
    """MODULES §limit-read-only: a view of a dict gives the dict itself to whoever it is compared with."""
    ours, plain = _Prying(), _Prying()
    held, view = frozen_state(), MappingProxyType({"a": 1})
    assert held == ours
    held | ours  # the operator is the attack
    assert ours.seen == [held, held]
    assert {type(each) for each in ours.seen} == {FrozenObject}
    assert view == plain  # the way that was not taken: here it is a dict that anyone may change
    assert [type(each) for each in plain.seen] == [dict]


def test_a_change_of_what_it_was_made_from_does_not_reach_it() -> None:
    """MODULES §limit-read-only: it is a snapshot, not a view, at every depth."""
    state = copy.deepcopy(STATE)
    held = frozen(MappingProxyType(state))
    state["notes"][0]["tags"].append("later")  # type: ignore[index]
    state["count"] = 9
    assert thawed(held) == STATE


def test_thawing_gives_a_copy_of_its_own() -> None:
    """What a reader does with the thawed copy stays there."""
    held = frozen_state()
    own: Any = thawed(held)
    own["notes"][0]["tags"].append("mine")
    assert thawed(held) == STATE


def test_copies_and_pickles_are_as_frozen() -> None:
    """The usual ways to copy give the same value, and no mutable one."""
    held = frozen_state()
    assert copy.copy(held) is held
    assert copy.deepcopy(held) is held
    again = pickle.loads(pickle.dumps(held))  # noqa: S301 - our own bytes
    assert again == held
    assert type(again) is FrozenObject


class _Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "a lie"

    def __len__(self) -> int:
        return 0

    def isascii(self) -> bool:
        return True


class _Number(int):
    def __int__(self) -> int:
        return 2**60

    def __le__(self, other: object) -> bool:
        return True


class _Decimal(float):
    def __float__(self) -> float:
        return float("nan")


class _List(list[Any]):
    def __iter__(self) -> Any:
        return iter([b"a lie"])


class _Tuple(tuple[Any, ...]):
    __slots__ = ()

    def __iter__(self) -> Any:
        return iter([b"a lie"])


class _Dict(dict[str, Any]):
    def items(self) -> Any:
        return [(1, b"a lie")]

    def __getitem__(self, key: str) -> Any:
        return b"a lie"


class _Word(StrEnum):
    ONE = "one"


class _Figure(IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (_Text("text"), "text"),
        (_Number(7), 7),
        (_Decimal(0.5), 0.5),
        (_List([1]), (1,)),
        (_Tuple((1,)), (1,)),
        (_Dict(a=1), {"a": 1}),
        ({_Text("key"): _Text("text")}, {"key": "text"}),
        (_Word.ONE, "one"),
        (_Figure.ONE, 1),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(list, a=[1]), {"a": (1,)}),
    ],
)
def test_of_a_subclass_only_what_the_built_in_type_holds_is_taken(
    value: object, expected: object
) -> None:
    """An overridden method is never asked, and the copy is of exact types."""
    held = frozen(value)
    assert held == expected
    assert type(held) in (str, int, float, tuple, FrozenObject)
    if isinstance(held, FrozenObject):
        assert {type(part) for pair in held.items() for part in pair} <= {str, int, tuple}
    if isinstance(held, tuple):
        assert {type(part) for part in held} == {int}


@pytest.mark.parametrize(
    ("value", "place", "why"),
    [
        (float("nan"), None, "no number"),
        ({"a": [1, float("inf")]}, "a[1]", "no number"),
        ({"a": {"b": -float("inf")}}, "a.b", "no number"),
        ([b"bytes"], "[0]", "bytes has no JSON form"),
        ({"a": bytearray()}, "a", "bytearray has no JSON form"),
        ({"a": {1, 2}}, "a", "set has no JSON form"),
        ([[], [frozenset()]], "[1][0]", "frozenset has no JSON form"),
        ({"run": print}, "run", "builtin_function_or_method has no JSON form"),
        ({"run": compile("1", "code", "eval")}, "run", "code has no JSON form"),
        ({"a": object()}, "a", "object has no JSON form"),
        ({"a": range(3)}, "a", "range has no JSON form"),
        ({"a": 1 + 2j}, "a", "complex has no JSON form"),
        ({1: "a"}, None, "a key is no text, it is int"),
        ({"a": {None: 1}}, "a", "a key is no text, it is NoneType"),
        ("\ud800", None, "lone surrogate"),
        ({"a": ["fine", "not \udfff"]}, "a[1]", "lone surrogate"),
        ({"a": {"\ud83d": 1}}, "a", "lone surrogate"),
        (2**53, None, "2**53"),
        ([0, -(2**53)], "[1]", "2**53"),
        ([_Number(2**70)], "[0]", "2**53"),
        ({"k" * 100: None, "a": [b""]}, "a[0]", "bytes"),
        ({"k" * 100: b""}, "k" * 64 + "…", "bytes"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(
    value: object, place: str | None, why: str
) -> None:
    """One code, a message, and the place as a path of keys and numbers."""
    problem = refusal(value)
    assert why in problem.message
    assert (problem.where.field if problem.where else None) == place


def _nested(levels: int, *, is_object: bool) -> object:
    value: object = None
    for _ in range(levels):
        value = {"a": value} if is_object else [value]
    return value


@pytest.mark.parametrize("is_object", [True, False])
def test_sixty_four_levels_are_taken_and_no_more(is_object: bool) -> None:  # noqa: FBT001 - a case
    """One level more is refused, and a thousand times as many do not exhaust the stack."""
    assert thawed(frozen(_nested(64, is_object=is_object))) == _nested(64, is_object=is_object)
    for levels in (65, 100_000):
        assert "64 levels" in refusal(_nested(levels, is_object=is_object)).message


def test_what_contains_itself_is_refused() -> None:
    """Directly, and through something else."""
    around: list[Any] = []
    around.append({"a": around})
    own: dict[str, Any] = {}
    own["own"] = own
    for value in (around, own):
        assert "contains itself" in refusal(value).message


def test_what_is_shared_many_times_counts_many_times() -> None:
    """A few lists that hold each other twice would be 2**60 values when they are written out."""
    shared: list[Any] = []
    for _ in range(60):
        shared = [shared, shared]
    assert "larger than" in refusal(shared).message
    assert "larger than" in refusal(["x" * (1 << 20)] * 17).message
    assert "larger than" in refusal([{"k" * (1 << 20): 1}] * 17).message
    assert frozen(["x" * (1 << 20)] * 15)


def test_of_two_keys_that_are_one_text_neither_is_taken() -> None:
    """A subclass may hash and compare as it likes; as text they would be one key."""

    class Other(str):
        __slots__ = ()

        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            return self is other

    assert "the same text" in refusal({"a": 1, Other("a"): 2}).message
