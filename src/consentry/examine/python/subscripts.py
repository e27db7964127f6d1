"""Subscripts: items of what is written out, members of modules by their names, slices."""

import ast

from consentry.examine.knowledge.effects import Power
from consentry.examine.python import folding, items, names, paths
from consentry.examine.python.attributes import attribute_of
from consentry.examine.python.resolves import BUILTINS, Resolves
from consentry.examine.python.scopes import Scope
from consentry.examine.python.values import (
    Const,
    Items,
    Namespace,
    Ref,
    Value,
    alternatives,
    either,
)


def subscript(resolver: Resolves, node: ast.Subscript, scope: Scope) -> Value:
    """`value[key]` or `value[from:to]`."""
    value = resolver.resolve(node.value, scope)
    if isinstance(node.slice, ast.Slice):
        return _sliced(resolver, value, node.slice, scope)
    key = resolver.constant(node.slice, scope)
    return either([looked_up(resolver, each, key) for each in alternatives(value)])


def looked_up(resolver: Resolves, value: Value, key: object) -> Value:
    """`value[key]` for a key that is a constant."""
    match value:
        case Namespace() if isinstance(key, str):
            if value.owner is not None:
                return attribute_of(resolver, value.owner, key)
            module = resolver.gathered.module
            if key in module.names:
                return resolver.lookup(module, key)
            return names.builtin(resolver, key)
        case Ref() if value.name == BUILTINS and isinstance(key, str):
            return Ref(f"{BUILTINS}.{key}")
        case Ref():
            return _indexed(resolver, value, key)
    return items.item_of(resolver, value, key)


def _indexed(resolver: Resolves, value: Ref, key: object) -> Value:
    """`sys.modules["os"]`, `os.environ["HOME"]`."""
    for effect in resolver.tables.listed(f"{value.name}.__getitem__") or ():
        if effect.power is Power.RETURNS and effect.arguments and isinstance(key, str):
            return Ref(key)
    return paths.variable(value.name, key)


def _sliced(resolver: Resolves, value: Value, node: ast.Slice, scope: Scope) -> Value:
    bounds = [
        None if bound is None else resolver.constant(bound, scope)
        for bound in (node.lower, node.upper, node.step)
    ]
    if isinstance(value, Const):
        return folding.sliced(value.value, *bounds)
    if isinstance(value, Items) and bounds == [None, None, -1]:
        return Items(value.nodes[::-1], value.scope)
    return None
