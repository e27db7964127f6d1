"""Where names are used: asked for the few built-in names that a file gives a meaning of its own.

A file that defines `open` may use the built-in function above that line, and after it deletes the name.
Positions are compared and not lines: what stands on one line runs from left to right.
"""

import ast
from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

_COLUMNS: Final = 24
"""Bits for the column; a file has fewer bytes than they count."""

_UNBINDING_NAMES: Final = frozenset({"globals", "locals", "vars", "delattr", "__dict__"})
_UNBINDING_ATTRIBUTES: Final = frozenset({"__dict__", "__delattr__", "modules"})
_OWN_MODULE: Final = "__main__"


def position(line: int, column: int) -> int:
    """A place in a file as a number that grows from its beginning to its end."""
    return (line << _COLUMNS) + column


class Uses:
    """The uses of every name of a file."""

    def __init__(self, tree: ast.Module) -> None:
        self.may_unbind = False
        """Whether names may be taken away without a statement that says so."""
        self._places: dict[str, list[int]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    place = position(node.lineno, node.col_offset)
                    self._places.setdefault(node.id, []).append(place)
            elif isinstance(node, ast.Attribute):
                self.may_unbind |= node.attr in _UNBINDING_ATTRIBUTES
            elif isinstance(node, ast.alias):
                self.may_unbind |= _OWN_MODULE in (node.name, node.asname)
        self.may_unbind |= not _UNBINDING_NAMES.isdisjoint(self._places)
        for places in self._places.values():
            places.sort()

    def is_before(self, name: str, end: int, lines: tuple[int, int]) -> bool:
        """Whether the name is used in these lines before that position."""
        first, last = position(lines[0], 0), position(lines[1] + 1, 0)
        places = self._places.get(name, [])
        at = bisect_left(places, first)
        return at < len(places) and places[at] < min(end, last)

    def is_within(self, name: str, spans: Iterable[tuple[int, int]]) -> bool:
        """Whether every use of the name stands in one of the spans of lines."""
        lines = (place >> _COLUMNS for place in self._places.get(name, ()))
        return all(any(first <= line <= last for first, last in spans) for line in lines)
