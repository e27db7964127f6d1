"""Annotations that a file reads back: then what they name can be called, and counts like any name."""

import ast
from collections.abc import Iterator
from typing import Final

from consentry.examine.python.gathered import Gathered

_READERS: Final = frozenset({"__annotations__", "get_type_hints", "get_annotations"})


def are_read(gathered: Gathered) -> bool:
    """Whether the file asks for its annotations, by whatever name it knows."""
    return any(
        not _READERS.isdisjoint(scope.bare)
        or any(node.attr in _READERS for node in scope.attributes)
        or any(_ends_in_reader(node.func) for node in scope.calls)
        or any(_ends_in_reader(value) for value, _, _ in scope.subscripts)
        for scope in gathered.scopes
    )


def annotations_in(tree: ast.Module) -> Iterator[ast.expr]:
    """All of them."""
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            found = getattr(node, name, None)
            if isinstance(found, ast.expr):
                yield found


def _ends_in_reader(node: ast.expr) -> bool:
    return getattr(node, "attr", getattr(node, "id", None)) in _READERS
