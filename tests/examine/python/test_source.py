"""Bytes to a tree, or to the reason why there is none."""

import ast

import pytest

from consentry.examine.python.source import MOST_BYTES, parsed


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x = 1\r\n",
        b"\xef\xbb\xbfx = 1\n",
        b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
        b"'\\d'\n",
        b"1 if 1else 2\n",
    ],
)
def test_what_python_reads(content: bytes) -> None:
    """Byte order marks, cookies, and what only draws a warning."""
    assert isinstance(parsed(content), ast.Module)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"x = (\n", "is not Python"),
        (b"print 'old'\n", "is not Python"),
        (b"x = '\xe9'\n", ""),
        (b"# coding: no-such-codec\n", ""),
        (b"x\0y\n", ""),
        (b"(" * 5000 + b")" * 5000, ""),
        (b"x = " + b"-" * 200_000 + b"1\n", ""),
        (b"#" * (MOST_BYTES + 1), "has more than"),
    ],
)
def test_what_it_does_not_read(content: bytes, why: str) -> None:
    """GUARD §extract-closed: said in words, and nothing raises."""
    found = parsed(content)
    assert isinstance(found, str)
    assert found.startswith(why)
    assert found
