"""Bytes to a syntax tree, or to the reason why there is none; hostile source raises nothing.

The interpreter's own parser reads the bytes, so that coding cookies and byte order marks mean here
what they mean when the file runs. A file that this version of Python cannot parse is not judged.
"""

import ast
import warnings
from typing import Final

MOST_BYTES: Final = 4 << 20
"""Larger source is not parsed: a syntax tree takes some hundred times the memory."""


class Unparsed:
    """Why there is no tree, in words that go on from the name of the file, and where."""

    __slots__ = ("column", "line", "reason")

    def __init__(self, reason: str, line: int = 1, column: int = 0) -> None:
        self.reason = reason
        self.line = line
        self.column = column


def parsed(content: bytes) -> ast.Module | str:
    """The tree, or in words why it could not be made."""
    tree = parsed_or_why(content)
    return tree.reason if isinstance(tree, Unparsed) else tree


def parsed_or_why(content: bytes) -> ast.Module | Unparsed:
    """The tree, or why it could not be made; lines count from 1, columns from 0."""
    if len(content) > MOST_BYTES:
        return Unparsed(f"has more than {MOST_BYTES:,} bytes")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except SyntaxError as problem:
        line = problem.lineno or 1
        reason = f"is not Python that this version reads: {problem.msg}, line {line}"
        return Unparsed(reason, line, max(0, (problem.offset or 1) - 1))
    except (RecursionError, MemoryError):
        return Unparsed("is nested too deeply to be parsed")
    except (ValueError, LookupError, OverflowError) as problem:
        return Unparsed(f"cannot be read as text: {problem}")
