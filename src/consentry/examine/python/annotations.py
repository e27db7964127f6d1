"""Annotations that a file reads back: then what they name can be called, and counts like any name."""

import ast
from collections.abc import Iterator
from typing import Final

from consentry.examine.python.gathered import Gathered

READERS: Final = frozenset({"__annotations__", "get_type_hints", "get_annotations"})


def are_read(gathered: Gathered) -> bool:
    """Whether the file asks for its annotations, by whatever name it knows."""
    return (
        not gathered.used_names.isdisjoint(READERS)
        or any(node.attr in READERS for node in gathered.watched)
        or any(not READERS.isdisjoint(scope.bare) for scope in gathered.scopes)
    )


def annotations_in(tree: ast.Module) -> Iterator[ast.expr]:
    """All of them."""
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            found = getattr(node, name, None)
            if isinstance(found, ast.expr):
                yield found
