"""Bytes to a syntax tree, or to the reason why there is none; hostile source raises nothing.

The interpreter's own parser reads the bytes, so that coding cookies and byte order marks mean here
what they mean when the file runs. A file that this version of Python cannot parse is not judged.
"""

import ast
import warnings
from typing import Final

MOST_BYTES: Final = 4 << 20
"""Larger source is not parsed: a syntax tree takes some hundred times the memory."""


def parsed(content: bytes) -> ast.Module | str:
    """The tree, or in words why it could not be made."""
    if len(content) > MOST_BYTES:
        return f"has more than {MOST_BYTES:,} bytes"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except SyntaxError as problem:
        return f"is not Python that this version reads: {problem.msg}, line {problem.lineno or 1}"
    except (RecursionError, MemoryError):
        return "is nested too deeply to be parsed"
    except (ValueError, LookupError, OverflowError) as problem:
        return f"cannot be read as text: {problem}"
