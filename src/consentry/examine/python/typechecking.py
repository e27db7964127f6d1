"""Blocks for type checkers: `if TYPE_CHECKING:` never runs, unless the name is something else.

Whether it is can be told only when all names of the file are bound: until then the blocks are put aside.
"""

import ast
from collections.abc import Iterator
from typing import Final

from consentry.examine.python.gathered import Gathered, Stack
from consentry.examine.python.scopes import Binding, How, Kind, Scope

_TYPE_CHECKING: Final = "TYPE_CHECKING"
_TYPING: Final = ("typing", "typing_extensions")
_TYPING_NAMES: Final = tuple(f"{module}.{_TYPE_CHECKING}" for module in _TYPING)


def is_so_called(test: ast.expr) -> bool:
    """Whether a condition has the name of the one for type checkers, whatever it is."""
    if isinstance(test, ast.Name):
        return test.id == _TYPE_CHECKING
    return isinstance(test, ast.Attribute) and test.attr == _TYPE_CHECKING


def conditions(node: ast.If) -> list[ast.expr]:
    """What must all hold for the block to run."""
    if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And):
        return node.test.values
    return [node.test]


def blocks_that_run(gathered: Gathered, *, is_trusted: bool) -> Iterator[tuple[Scope, Stack]]:
    """The blocks that were put aside and whose condition is not the one for type checkers."""
    blocks, gathered.type_checking = gathered.type_checking, []
    is_sure = is_trusted and not gathered.any_changed
    for block, scope in blocks:
        if not is_sure or not any(_is_type_checking(test, scope) for test in conditions(block)):
            yield scope, [*block.body, block.test]


def is_left_alone(tree: ast.Module) -> bool:
    """Whether nothing in the file could make the condition true: by its name, or through its module."""
    typing = {*_TYPING}
    used: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute():
                if node.attr == _TYPE_CHECKING and not isinstance(node.ctx, ast.Load):
                    return False
                used.add(id(node.value))
            case ast.Constant(value=str(text)) if text in (_TYPE_CHECKING, *_TYPING):
                return False
            case ast.keyword(arg=arg) if arg == _TYPE_CHECKING:
                return False
            case ast.ImportFrom(module=module) if module not in _TYPING:
                if any(alias.name == "*" for alias in node.names):
                    return False
            case ast.alias() if node.name in _TYPING and node.asname:
                typing.add(node.asname)
    return not any(
        isinstance(node, ast.Name) and node.id in typing and id(node) not in used
        for node in ast.walk(tree)
    )


def _is_type_checking(test: ast.expr, scope: Scope) -> bool:
    """Whether a condition is the one of `typing`, or a name that is always False."""
    if not is_so_called(test):
        return False
    base = test.value if isinstance(test, ast.Attribute) else test
    if not isinstance(base, ast.Name):
        return False
    place: Scope | None = scope
    while place is not None and (
        base.id not in place.names or (place is not scope and place.kind is Kind.CLASS)
    ):
        place = place.parent
    means = _means_typing if isinstance(test, ast.Attribute) else _means_false
    return place is not None and all(map(means, place.names[base.id]))


def _means_typing(binding: Binding) -> bool:
    return binding.how is How.REFERENCE and binding.payload in _TYPING


def _means_false(binding: Binding) -> bool:
    payload = binding.payload
    if isinstance(payload, ast.Constant):
        return payload.value is False
    return binding.how is How.REFERENCE and payload in _TYPING_NAMES
