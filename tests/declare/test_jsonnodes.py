"""JSON is read to the letter, with the place of everything."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.declare.nodes import MOST_DEPTH, MOST_NODES
from tests.declare.reading import problems_with, values_of

CORRECT = "correct the line, or the one before it"

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(JSON, st.sampled_from([None, 2, "\t"]))
def test_what_the_standard_library_writes_is_read_as_it_was(
    value: object, indent: int | str | None
) -> None:
    """All of JSON but what every document refuses."""
    assert values_of(json.dumps(value, indent=indent), "d.json") == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: the document is empty; write the document, or remove the file"),
        ('{"a": 1,}', f"1:9: this is not JSON: a key in double quotes is expected; {CORRECT}"),
        ("{a: 1}", f"1:2: this is not JSON: a key in double quotes is expected; {CORRECT}"),
        ("[1 2]", f"1:4: this is not JSON: `,` or `]` is expected; {CORRECT}"),
        ("[1,]", f"1:4: this is not JSON: a value is expected; {CORRECT}"),
        ('{"a"\n1}', f"2:1: this is not JSON: `:` is expected; {CORRECT}"),
        ('{"a": 1', f"1:8: this is not JSON: `,` or `}}` is expected; {CORRECT}"),
        ('["abc', f"1:2: this is not JSON: this text has no end; {CORRECT}"),
        ('["a\tb"]', "1:4: this is not JSON: a text has a raw control character, or an escape "),
        ('["\\q"]', "1:3: this is not JSON: a text has a raw control character, or an escape "),
        ("{} x", f"1:4: this is not JSON: something follows the end of the document; {CORRECT}"),
        ("NaN", f"1:1: this is not JSON: a value is expected; {CORRECT}"),
        ("-Infinity", f"1:1: this is not JSON: a value is expected; {CORRECT}"),
        ("01", f"1:2: this is not JSON: something follows the end of the document; {CORRECT}"),
        ("'a'", f"1:1: this is not JSON: a value is expected; {CORRECT}"),
        ("[] // x", f"1:4: this is not JSON: something follows the end of the document; {CORRECT}"),
        ('{"a": 1,\n "a": 2}', "2:2: a: `a` is already in line 1; keep one of the two"),
        (
            '{"a": "\\ud83d"}',
            "1:7: a: the text contains half of a surrogate pair, U+D83D; remove the escape",
        ),
        ('{"a": "\\u0000"}', "1:7: a: the text contains NUL; remove the escape"),
    ],
)
def test_refused(text: str, said: str) -> None:
    """Line and column are those an editor shows."""
    [problem] = problems_with(text, name="d.json")
    assert problem.startswith(f"d.json:{said}")


def test_pairs_of_surrogate_escapes_are_one_character() -> None:
    """JSON's only way to escape what lies beyond 16 bits."""
    assert values_of('["\\ud83d\\ude00"]', "d.json") == ["😀"]


def test_too_deep_and_too_many() -> None:
    """The limits are those of YAML."""
    deep = "[" * MOST_DEPTH + "]" * MOST_DEPTH
    assert values_of(deep, "d.json") is not None
    assert "nested deeper" in problems_with("[" * 100_000, name="d.json")[0]
    assert "nested deeper" in problems_with('{"":' * 100_000, name="d.json")[0]
    many = f"[{','.join('0' * MOST_NODES)}]"
    assert "more than 20,000 values" in problems_with(many, name="d.json")[0]
