"""The calls of Python source, and which names something in it binds."""

import ast
from collections.abc import Iterator
from typing import Final

from consentry.examine.inference.toolcalls import AN_ITEM, Called

_NAMED: Final = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.MatchAs, ast.MatchStar, ast.ExceptHandler),
)
_MOST_PATH: Final = 16


def calls_of_python(tree: ast.Module) -> Iterator[Called]:
    """Each call whose function is a name or begins with one.

    A name that is bound anywhere counts as bound everywhere. With `from m import *` any name may be.
    """
    bound = set(_bound(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            path = _path(node.func)
            if path:
                yield Called(path, is_bound="*" in bound or path[0] in bound)


def _path(node: ast.expr) -> tuple[str, ...]:
    members: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        members.append(node.attr if isinstance(node, ast.Attribute) else AN_ITEM)
        node = node.value
    if not isinstance(node, ast.Name):
        return ()
    return (node.id, *reversed(members[:_MOST_PATH]))


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, _NAMED):
            yield node.name or ""
        elif isinstance(node, ast.MatchMapping):
            yield node.rest or ""
