"""Values are taken as what they should be; everything else is refused, and reading goes on."""

import re
from collections.abc import Callable
from enum import StrEnum

import pytest

from consentry.base.codes import Code
from consentry.base.errors import BadDocument
from consentry.base.units import Size
from consentry.declare.reader import read_document
from consentry.declare.values import Value
from tests.declare.reading import problems_with


class Fruit(StrEnum):
    """Words to choose from."""

    APPLE = "apple"
    PEAR = "pear"


WAYS: dict[str, Callable[[Value], object]] = {
    "text": Value.text,
    "words": Value.words,
    "flag": Value.flag,
    "whole": lambda value: value.whole(1, 9),
    "member": lambda value: value.member(Fruit),
    "matching": lambda value: value.matching(re.compile("[a-z]+"), "a word", "use letters"),
    "parsed": lambda value: value.parsed(Size.parse),
    "items": Value.items,
    "fields": lambda value: value.fields(("a", "bee")),
}


def taken(way: str) -> Callable[[Value], object]:
    """A builder that takes the field `x` in one way."""

    def build(root: Value) -> object:
        fields = root.fields(("x",))
        assert fields is not None
        return fields.may("x", WAYS[way], "absent")

    return build


@pytest.mark.parametrize(
    ("way", "written", "value"),
    [
        ("text", "plain", "plain"),
        ("text", "no", "no"),
        ("words", '""', ""),
        ("flag", "false", False),
        ("whole", "9", 9),
        ("member", "pear", Fruit.PEAR),
        ("matching", "word", "word"),
        ("parsed", "1K", Size(1024)),
        ("items", "[]", ()),
    ],
)
def test_taken(way: str, written: str, value: object) -> None:
    """As it is written, without conversion."""
    assert read_document(f"x: {written}".encode(), "d.yaml", taken(way)) == value


@pytest.mark.parametrize(
    ("way", "written", "said"),
    [
        ("text", "1.0", '`1.0` is a decimal number, and text is meant; put it in quotes: "1.0"'),
        ("text", "7", '`7` is a whole number, and text is meant; put it in quotes: "7"'),
        ("text", "true", '`true` is true or false, and text is meant; put it in quotes: "true"'),
        ("text", "", "there is no value, and text is meant; write a text"),
        ("text", "[a]", "this is a list, and text is meant; write a text"),
        ("text", "{a: b}", "this is a mapping, and text is meant; write a text"),
        ("text", '""', "the text is empty; write something, or leave the key out"),
        ("flag", "no", "`no` is text, and true or false is meant; write false, without quotes"),
        ("flag", "True", "`True` is text, and true or false is meant; write true, without quotes"),
        (
            "flag",
            "'false'",
            "`false` in quotes is text, and true or false is meant; write false, without quotes",
        ),
        ("flag", "1", "`1` is a whole number, and true or false is meant; write true or false"),
        ("whole", "0", "`0` is out of range; write a number from 1 to 9"),
        ("whole", "9" * 5000, f"`{'9' * 80}…` is out of range; write a number from 1 to 9"),
        (
            "whole",
            "'5'",
            "`5` in quotes is text, and a whole number is meant; write a number, without quotes",
        ),
        (
            "whole",
            "1.5",
            "`1.5` is a decimal number, and a whole number is meant; write a number, without quotes",
        ),
        ("member", "aple", "`aple` is not one of apple, pear; did you mean `apple`?"),
        ("member", "kiwi", "`kiwi` is not one of apple, pear; write one of apple, pear"),
        ("matching", "a1", "`a1` is not a word; use letters"),
        ("parsed", "much", f"`much` is not a size; {Code.UNIT_SIZE.remedy}"),
        ("parsed", "x" * 5000, "the text has more than 4,096 characters; shorten it"),
        ("items", "a", "`a` is text, and a list is meant; write a list; `[]` is an empty one"),
        (
            "fields",
            "[]",
            "this is a list, and a mapping is meant; write `key: value` lines; `{}` has none",
        ),
    ],
)
def test_refused(way: str, written: str, said: str) -> None:
    """What stands there, what is meant, what to write."""
    column = 4 if written else 3
    assert problems_with(f"x: {written}\n", taken(way)) == [f"d.yaml:1:{column}: x: {said}"]


def test_an_inner_error_keeps_its_code() -> None:
    """Scripts may tell a bad size from a bad path; the document's code stays the same."""
    with pytest.raises(BadDocument) as caught:
        read_document(b"x: much", "d.yaml", taken("parsed"))
    assert caught.value.code is Code.DOCUMENT_INVALID
    assert [problem.code for problem in caught.value.problems] == [Code.UNIT_SIZE]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x: {be: 1}", "1:5: x.be: `be` is not a key that is known here; did you mean `bee`?"),
        (
            "x: {a: 1, zzz: 2}",
            "1:11: x.zzz: `zzz` is not a key that is known here; the keys still free here are bee",
        ),
        (
            "x: {a: 1, bee: 2, zzz: 3}",
            "1:19: x.zzz: `zzz` is not a key that is known here; remove it",
        ),
        ("y: 1", "1:1: y: `y` is not a key that is known here; the keys still free here are x"),
    ],
)
def test_unknown_keys(text: str, said: str) -> None:
    """A near miss is named; else what may still be written there."""
    assert problems_with(text, taken("fields")) == [f"d.yaml:{said}"]


def test_a_missing_key_is_told_where_it_belongs() -> None:
    """At the beginning of the mapping that lacks it."""

    def build(root: Value) -> None:
        fields = root.fields(("x",))
        inner = None if fields is None else fields.may("x", WAYS["fields"], None)
        assert inner is not None
        assert inner.need("bee", Value.text, "stand-in") == "stand-in"  # type: ignore[attr-defined]

    assert problems_with("x:\n  a: 1\n", build) == [
        "d.yaml:2:3: x.bee: this key is missing; add `bee:`"
    ]


def test_asking_for_a_key_that_was_not_declared_is_a_fault() -> None:
    """Or a forgotten name would be refused in every document, and nobody would know why."""

    def build(root: Value) -> None:
        fields = root.fields(("x",))
        assert fields is not None
        fields.find("y")

    with pytest.raises(LookupError):
        read_document(b"x: 1", "d.yaml", build)


def test_of_a_list_what_is_wrong_is_left_out() -> None:
    """Each of them is told, and the others are there."""
    seen: list[tuple[str, ...] | None] = []

    def build(root: Value) -> None:
        seen.append(root.each(Value.text))

    assert problems_with("[a, 1, b, true]", build) == [
        'd.yaml:1:5: [1]: `1` is a whole number, and text is meant; put it in quotes: "1"',
        'd.yaml:1:11: [3]: `true` is true or false, and text is meant; put it in quotes: "true"',
    ]
    assert seen == [("a", "b")]


def test_what_no_document_may_contain_is_told_once() -> None:
    """A builder that meets it says nothing more."""
    assert len(problems_with("x: &a 1", taken("text"))) == 1
    assert len(problems_with('x: "\\0"', taken("text"))) == 1
