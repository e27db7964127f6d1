"""Bytes that are not what an editor shows are refused before anything is parsed."""

import pytest

from consentry.declare.source import MOST_BYTES
from tests.declare.reading import problems_with, values_of

REMOVE = "remove it, or write it as an escape in double quotes"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: 1\nb: \xff\n", "d.yaml:2:4: the byte 0xff is not UTF-8; save the document as UTF-8"),
        (b"\xff\xfea\0", "d.yaml:1:1: the byte 0xff is not UTF-8; save the document as UTF-8"),
        (
            b"a: \xed\xa0\x80\n",
            "d.yaml:1:4: the byte 0xed is not UTF-8; save the document as UTF-8",
        ),
        (
            b"a: \xc3\xbc\xc0\x80",
            "d.yaml:1:5: the byte 0xc0 is not UTF-8; save the document as UTF-8",
        ),
        (b"a: x\0y", "d.yaml:1:5: the character NUL stands here; remove it"),
        (b"a: \x1b[2J", f"d.yaml:1:4: the control character U+001B stands here; {REMOVE}"),
        (
            "# fine\u2028networkAccess: true\n".encode(),
            f"d.yaml:1:7: U+2028 makes the document look different from what it says; {REMOVE}",
        ),
        (
            b"# fine\rnetworkAccess: true\n",
            f"d.yaml:1:7: U+000D makes the document look different from what it says; {REMOVE}",
        ),
        (
            "a: 1 # \u202e\n".encode(),
            f"d.yaml:1:8: U+202E makes the document look different from what it says; {REMOVE}",
        ),
    ],
)
def test_refused(content: bytes, said: str) -> None:
    """With the very place, counted in characters."""
    assert problems_with(content) == [said]
    assert problems_with(content, name="d.json") == [said.replace("d.yaml", "d.json")]


def test_all_of_them_are_told() -> None:
    """Not only the first; and of very many, the first hundred."""
    assert len(problems_with(b"a: \x01\nb: \x02\n")) == 2
    assert len(problems_with(b"\x01" * 5000)) == 100


def test_too_large() -> None:
    """One byte more than the limit; the limit itself is read."""
    assert problems_with(b"#" * (MOST_BYTES + 1)) == [
        (
            "d.yaml: the document has more than 1,048,576 bytes; "
            "leave out what is not needed, or use several documents"
        )
    ]
    just_fits = "a: 1 #" + "x" * (MOST_BYTES - 6)
    assert values_of(just_fits) == {"a": 1}


def test_what_editors_write_is_read() -> None:
    """A byte order mark, Windows line ends, letters of every script."""
    assert values_of("\ufeffa: 1\r\nb: grün שלום 😀\r\n") == {"a": 1, "b": "grün שלום 😀"}
    assert problems_with("\ufeffa: 1\na: 2\n")[0].startswith("d.yaml:2:1: ")


def test_an_escape_may_say_what_must_not_stand_there() -> None:
    """In double quotes, where everyone sees it."""
    assert values_of('a: "\\u202e \\e \\L"') == {"a": "\u202e \x1b \u2028"}
