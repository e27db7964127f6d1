"""What is in a list, a tuple, a dictionary or a text that is written out."""

import ast

from consentry.examine.knowledge.effects import Power
from consentry.examine.python import folding
from consentry.examine.python.resolves import MOST_PARTS, Resolves
from consentry.examine.python.values import Const, Instance, Items, Table, Value, either


def item_of(resolver: Resolves, value: Value, key: object) -> Value:
    """`value[key]`; of a dictionary with computed keys any value may be meant."""
    if isinstance(value, Items):
        if not isinstance(key, int) or not is_plain(value):
            resolver.spend(len(value.nodes))
            return either([*resolved_items(resolver, value), None])
        if -len(value.nodes) <= key < len(value.nodes):
            return resolver.resolve(value.nodes[key], value.scope)
    elif isinstance(value, Table):
        return _value_at(resolver, value, key)
    elif isinstance(value, Const) and isinstance(value.value, str) and isinstance(key, int):
        return folding.sliced(value.value, key, key + 1 or None, None)
    return None


def is_plain(value: Items) -> bool:
    """Whether the items stand in an order, and none of them stands for several."""
    if value.is_plain is None:
        has_several = any(isinstance(node, ast.Starred) for node in value.nodes)
        value.is_plain = value.is_ordered and not has_several
    return value.is_plain


def _value_at(resolver: Resolves, table: Table, key: object) -> Value:
    """The values that a key may find; a key that is computed may find every one."""
    by_key = table.by_key
    if by_key is not None and isinstance(key, str | int | bytes | type(None)):
        return either([resolver.resolve(node, table.scope) for node in by_key.get(key, ())])
    resolver.spend(len(table.node.values))
    return either([*(resolver.resolve(node, table.scope) for node in table.node.values), None])


def each_of(resolver: Resolves, value: Value) -> Value:
    """What a loop over the value goes through."""
    if isinstance(value, Items):
        return either(resolved_items(resolver, value))
    if isinstance(value, Table):
        keys = [key for key in value.node.keys if key is not None]
        found = [resolver.resolve(key, value.scope) for key in keys[:MOST_PARTS]]
        return either([*found, None] if len(found) < len(value.node.keys) else found)
    if isinstance(value, Instance):
        for effect in resolver.tables.method(value.name, "__iter__"):
            if effect.power is Power.RETURNS and effect.constant:
                return Instance(effect.constant)
    return None


def resolved_items(resolver: Resolves, value: Items) -> list[Value]:
    """The items one by one; what stands for several, or is one too many, is not known."""
    found = [
        None if isinstance(node, ast.Starred) else resolver.resolve(node, value.scope)
        for node in value.nodes[:MOST_PARTS]
    ]
    return [*found, None] if len(value.nodes) > MOST_PARTS else found
