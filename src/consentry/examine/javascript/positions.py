"""Where the elements of an array or of its pattern stand, with the places that are left empty."""

import re
from typing import Final

from consentry.examine.syntaxtree import Syntax

MOST_EMPTY: Final = 1024
_COMMENT: Final = re.compile(r"/\*.*?\*/|//[^\n\r\u2028\u2029]*", re.DOTALL)


def elements_of(node: Syntax) -> list[Syntax | None] | None:
    """The elements, None for a place left empty; None for all when one is spread into many."""
    found: list[Syntax | None] = []
    at = node.start + 1
    for child in node.children:
        if child.kind == "spread_element":
            return None
        empty = _commas(node, at, child.start) - (1 if found else 0)
        if empty < 0 or len(found) + empty > MOST_EMPTY + len(node.children):
            return None
        found += [None] * empty
        found.append(child)
        at = child.end
    found += [None] * min(_commas(node, at, node.end) - (1 if found else 0), MOST_EMPTY)
    return found


def _commas(node: Syntax, start: int, end: int) -> int:
    between = node.source[start:end]
    if b"/" not in between:
        return between.count(b",")
    return _COMMENT.sub("", between.decode("utf-8", "replace")).count(",")
