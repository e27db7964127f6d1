"""What a module may keep is JSON under a key, and has an end (`module.storage.local`)."""

import json
import marshal
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import Json, canonical_json
from consentry.base.errors import BadInput, Refused
from consentry.base.frozenjson import MOST_INTEGER, FrozenObject, frozen, thawed
from consentry.decide.modulestorage import (
    StorageLimits,
    StorageUse,
    check_room,
    checked_key,
    decoded_value,
    encoded_value,
    stored_size,
)

_texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-MOST_INTEGER, MOST_INTEGER) | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
)
LIMITS = StorageLimits(most_bytes=100, most_value_bytes=20, most_keys=3, most_key_letters=5)


class _Reducing:
    """What a pickle would call when it is read."""

    def __reduce__(self) -> Any:
        return print, ("run",)


@given(_values)
def test_what_is_kept_is_canonical_json_and_comes_back_frozen(value: Json) -> None:
    """MODULES §limit-storage-data: the text is canonical JSON, and reading it gives the same value."""
    text = encoded_value(value)
    assert text.encode() == canonical_json(value)
    held = decoded_value(text)
    assert held == frozen(value)
    assert thawed(held) == value
    assert type(held) not in (list, dict)


@pytest.mark.parametrize(
    "value",
    [
        print,
        lambda: None,
        compile("1", "code", "exec"),
        _Reducing(),
        type,
        b"\x80\x04.",
        bytearray(b"code"),
        memoryview(b"code"),
        pickle.dumps(_Reducing()),
        marshal.dumps(compile("1", "code", "exec")),
        {"on": {"click": [print]}},
        {1: 2},
        {1, 2},
        float("nan"),
        2**60,
        "\ud800",
    ],
    ids=lambda value: type(value).__name__,
)
def test_nothing_executable_is_ever_kept(value: object) -> None:
    """MODULES §limit-storage-data: what is no JSON is refused, whatever it could be made to do."""
    with pytest.raises(BadInput) as caught:
        encoded_value(value)
    assert caught.value.code == "canonical-json"


@pytest.mark.parametrize(
    "text",
    ["__import__('os').system('id')", "<script>alert(1)</script>", "!!python/object:os", "cos\n."],
)
def test_text_that_looks_like_a_program_stays_text(text: str) -> None:
    """MODULES §limit-storage-data: it goes in as text and comes out as the same text."""
    kept = encoded_value({"code": text})
    assert json.loads(kept) == {"code": text}
    assert decoded_value(kept) == {"code": text}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "print(1)",
        "NaN",
        "[Infinity]",
        "{'a': 1}",
        '{"a": 1',
        '"\\ud800"',
        "[" * 100_000,
        "9" * 30,
    ],
    ids=lambda text: text[:10],
)
def test_what_is_no_json_is_not_read(text: str) -> None:
    """MODULES §limit-storage-data: a text that nobody here has written is an error, never evaluated."""
    with pytest.raises(BadInput) as caught:
        decoded_value(text)
    assert caught.value.code == "canonical-json"


def test_a_value_that_was_kept_cannot_be_changed_by_its_reader() -> None:
    """What comes back is frozen."""
    held: Any = decoded_value('{"a":[{"b":1}]}')
    assert {type(held), type(held["a"][0])} == {FrozenObject}
    with pytest.raises(TypeError):
        held["a"][0]["b"] = 2


@pytest.mark.parametrize("key", ["a", "notes/1", "a b", "Ünï", "🙂", "../other", "x" * 200, "a'--"])
def test_any_text_without_controls_is_a_key(key: str) -> None:
    """A key is compared, never interpreted: a path or a piece of SQL in it is only its letters."""
    assert checked_key(key) == key


@pytest.mark.parametrize(
    "key",
    ["", "x" * 201, "a\0b", "line\n", "\x1b[2J", "\x7f", "\x85", "\u2028", "\ud800", b"a", 1, None],
    ids=repr,
)
def test_what_is_no_key_is_refused(key: object) -> None:
    """Nothing empty, too long, no text, or with controls and halves of a pair in it."""
    with pytest.raises(BadInput) as caught:
        checked_key(key)
    assert caught.value.code == "decision-field"


def test_a_key_of_a_subclass_is_taken_as_the_text_it_holds() -> None:
    """So that it cannot be another text by the time it is written."""

    class Changing(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "other"

    key = checked_key(Changing("a"))
    assert (key, type(key)) == ("a", str)


def test_a_value_has_an_end() -> None:
    """Counted as UTF-8 of its JSON: with the quotes, and two bytes for each such letter."""
    assert encoded_value("x" * 18, LIMITS) == f'"{"x" * 18}"'
    assert encoded_value("é" * 9, LIMITS)
    for value in ("x" * 19, "é" * 10, ["x" * 20]):
        with pytest.raises(Refused) as caught:
            encoded_value(value, LIMITS)
        assert caught.value.code == "module-storage-full"
    with pytest.raises(BadInput):
        checked_key("x" * 6, LIMITS)


@pytest.mark.parametrize(
    ("used_bytes", "used_keys", "size", "fits"),
    [
        (0, 0, 100, True),
        (0, 0, 101, False),
        (99, 2, 1, True),
        (100, 2, 1, False),
        (0, 2, 1, True),
        (0, 3, 1, False),
        (500, 1, 1, False),
    ],
)
def test_there_is_room_up_to_the_last_byte_and_key(
    used_bytes: int,
    used_keys: int,
    size: int,
    fits: bool,  # noqa: FBT001 - a case
) -> None:
    """One code for both limits; the message says which one and how much."""
    others = StorageUse(used_bytes, used_keys)
    if fits:
        assert check_room(LIMITS, others, size) is None  # type: ignore[func-returns-value]
        return
    with pytest.raises(Refused) as caught:
        check_room(LIMITS, others, size)
    assert caught.value.code == "module-storage-full"
    assert "is the most" in caught.value.message


def test_a_key_counts_with_its_value() -> None:
    """Both in UTF-8."""
    assert stored_size("é", '"é"') == 2 + 4
