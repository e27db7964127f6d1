"""Keys and characters that no document may have, with their places."""

import pytest

from tests.declare.reading import problems_with, values_of


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", ["3:1: a: `a` is already in line 1; keep one of the two"]),
        ("{a: 1, 'a': 2}\n", ["1:8: a: `a` is already in line 1; keep one of the two"]),
        (
            "x:\n  - a: 1\n    a: 2\n    a: 3\n",
            [
                "3:5: x[0].a: `a` is already in line 2; keep one of the two",
                "4:5: x[0].a: `a` is already in line 2; keep one of the two",
            ],
        ),
        ("<<: {a: 1}\n", ["1:1: `<<` merges, which is not taken; write the keys out"]),
        ("1: a\n", ["1:1: `1` is a whole number, and a key is text; put it in quotes"]),
        ("true: a\n", ["1:1: `true` is true or false, and a key is text; put it in quotes"]),
        ("~: a\n", ["1:1: there is no value, and a key is text; put it in quotes"]),
        ("? [x]\n: a\n", ["1:3: this is a list, and a key is text; write a text as the key"]),
        ("? {x: 1}\n: a\n", ["1:3: this is a mapping, and a key is text; write a text as the key"]),
        (
            'a: "\\ud800"\nb: ["\\0"]\n"\\udfff": 1\n',
            [
                "1:4: a: the text contains half of a surrogate pair, U+D800; remove the escape",
                "2:5: b[0]: the text contains NUL; remove the escape",
                (
                    '3:1: "\udfff": the text contains half of a surrogate pair, U+DFFF; '
                    "remove the escape"
                ),
            ],
        ),
        (
            '"a b":\n  "c.d": &x 1\n',
            [
                (
                    '2:10: "a b"."c.d": `&x` is an anchor, and none is taken; '
                    "write the value out in each place"
                )
            ],
        ),
    ],
)
def test_refused(text: str, said: list[str]) -> None:
    """Each with the path of the field it is about."""
    assert problems_with(text) == [f"d.yaml:{each}" for each in said]


def test_keys_that_only_look_odd_are_keys() -> None:
    """In quotes everything is text; `no` is text without them."""
    assert values_of("no: 1\n'<<': 2\n'1': 3\n'': 4\n") == {"no": 1, "<<": 2, "1": 3, "": 4}
