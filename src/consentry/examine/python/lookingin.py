"""Places where something is looked into by a key: `value[key]`, `value[key] = …`, `key in value`."""

import ast
from typing import Final

from consentry.examine.python.gathered import Gathered, Stack
from consentry.examine.python.scopes import Mode, Scope

_NAMESPACE_CALLS: Final = frozenset({"globals", "vars", "locals"})


def subscript(gathered: Gathered, node: ast.Subscript, scope: Scope, stack: Stack) -> None:
    """`value[key]`, read, stored to or deleted."""
    if node.slice.__class__ is not ast.Constant:
        stack.append(node.slice)
    mode = Mode.GET
    if not isinstance(node.ctx, ast.Load):
        mode = Mode.STORE
        _note_changed(gathered, node)
    _looked_into(gathered, node.value, node.slice, mode, scope, stack)


def compare(gathered: Gathered, node: ast.Compare, scope: Scope, stack: Stack) -> None:
    """`key in value`, among other comparisons."""
    stack.append(node.left)
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        if operator.__class__ in (ast.In, ast.NotIn):
            _looked_into(gathered, right, left, Mode.CONTAINS, scope, stack)
        else:
            stack.append(right)
        left = right


def _looked_into(
    gathered: Gathered, value: ast.expr, key: ast.expr, mode: Mode, scope: Scope, stack: Stack
) -> None:
    scope.subscripts.append((value, key, mode))
    base = value
    while isinstance(base, ast.Attribute):
        if base.attr in gathered.watched_names:
            gathered.watched.append(base)
        base = base.value
    if isinstance(base, ast.Name):
        gathered.used_names.add(base.id)
    else:
        stack.append(base)


def _note_changed(gathered: Gathered, node: ast.Subscript) -> None:
    value = node.value
    if isinstance(value, ast.Name):
        gathered.changed.add(value.id)
    elif isinstance(value, ast.Attribute):
        gathered.reassigned.add(value.attr)
    elif isinstance(value, ast.Call) and _called_name(value) in _NAMESPACE_CALLS:
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            gathered.changed.add(key.value)
        else:
            gathered.any_changed = True


def _called_name(node: ast.Call) -> str | None:
    return node.func.id if isinstance(node.func, ast.Name) else None
