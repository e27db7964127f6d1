"""Operations that make constants: sums, templates, joins, the ways a text is put together from parts."""

import ast
from typing import Final

from consentry.examine.python import folding, paths
from consentry.examine.python.items import is_plain, resolved_items
from consentry.examine.python.resolves import MOST_PARTS, Resolves
from consentry.examine.python.scopes import Scope
from consentry.examine.python.values import Const, Items, Ref, Value

_MOST_SPLIT: Final = 1024
_MOST_ARGUMENTS: Final = 4
_MAPPED: Final = 2
"""`map` with a function and one thing to go through."""


def operation(resolver: Resolves, node: ast.BinOp, scope: Scope) -> Value:
    """An operator between two values."""
    if isinstance(node.op, ast.Add):
        return _sum(resolver, node, scope)
    left = resolver.resolve(node.left, scope)
    right = resolver.resolve(node.right, scope)
    if isinstance(node.op, ast.Div):
        return paths.divided(left, right)
    if isinstance(node.op, ast.Mult):
        return folding.repeated(left, right)
    if not isinstance(left, Const):
        return None
    if isinstance(node.op, ast.Mod) and isinstance(left.value, str):
        values = resolved_items(resolver, right) if isinstance(right, Items) else [right]
        return folding.filled(left.value, values)
    return _arithmetic(node.op, left.value, right.value) if isinstance(right, Const) else None


def _sum(resolver: Resolves, node: ast.BinOp, scope: Scope) -> Value:
    """A chain of additions, which may be long, without a step down for each."""
    parts: list[ast.expr] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
        parts.append(left.right)
        left = left.left
    value = resolver.resolve(left, scope)
    for part in reversed(parts):
        more = resolver.resolve(part, scope)
        if isinstance(value, Items):
            # The first word of a command stays what it is, whatever is added.
            if isinstance(more, Items) and more.scope is value.scope:
                value = Items([*value.nodes, *more.nodes], value.scope)
            else:
                value = Items([*value.nodes, ast.Starred(part, ast.Load())], value.scope)
            continue
        value = folding.added(paths.as_text(value), paths.as_text(more))
        if value is None:
            return None
    return value


def _arithmetic(operator: ast.operator, left: object, right: object) -> Value:
    if isinstance(left, int) and isinstance(right, int):
        if isinstance(operator, ast.Sub):
            return Const(left - right)
        if isinstance(operator, ast.BitXor):
            return Const(left ^ right)
        if isinstance(operator, ast.BitOr):
            return Const(left | right)
    return None


def negated(resolver: Resolves, node: ast.UnaryOp, scope: Scope) -> Value:
    """`-value`."""
    value = resolver.resolve(node.operand, scope)
    if isinstance(node.op, ast.USub) and isinstance(value, Const) and isinstance(value.value, int):
        return Const(-value.value)
    return None


def f_string(resolver: Resolves, node: ast.JoinedStr, scope: Scope) -> Value:
    """A text with expressions in it."""
    parts = [
        _filled_in(resolver, part, scope)
        if isinstance(part, ast.FormattedValue)
        else resolver.resolve(part, scope)
        for part in node.values
    ]
    return folding.joined_parts([paths.as_text(part) for part in parts])


def _filled_in(resolver: Resolves, part: ast.FormattedValue, scope: Scope) -> Value:
    plain = part.format_spec is None and part.conversion in (-1, ord("s"))
    return resolver.resolve(part.value, scope) if plain else None


def method_called(
    resolver: Resolves, owner: object, name: str, node: ast.Call, scope: Scope
) -> Value:
    """A method of a constant: `"".join(…)`, `"…".split()`, `"…".format(…)`, `b"…".decode()`."""
    if not is_plain_call(node) and name != "format":
        return None
    if isinstance(owner, str):
        if name == "join" and node.args:
            return _joined(resolver, owner, node.args[0], scope)
        if name == "split" and len(owner) < _MOST_SPLIT and len(node.args) < _MAPPED:
            between = resolver.constant(node.args[0], scope) if node.args else None
            if between is None or (isinstance(between, str) and between):
                return Items([ast.Constant(word) for word in owner.split(between)], scope)
        if name == "format":
            if any(isinstance(each, ast.Starred) for each in node.args) or any(
                each.arg is None for each in node.keywords
            ):
                return None
            named = {
                each.arg: resolver.resolve(each.value, scope) for each in node.keywords if each.arg
            }
            values = [resolver.resolve(each, scope) for each in node.args]
            return folding.formatted(owner, values, named)
    plain = constants(resolver, node, scope)
    return None if plain is None else folding.method_called(owner, name, plain)


def constants(resolver: Resolves, node: ast.Call, scope: Scope) -> list[object] | None:
    """The arguments of a call that has only constants; None where it has others, or keywords."""
    if not is_plain_call(node) or len(node.args) > _MOST_ARGUMENTS:
        return None
    values = [resolver.resolve(each, scope) for each in node.args]
    plain = [value.value for value in values if isinstance(value, Const)]
    return plain if len(plain) == len(values) else None


def is_plain_call(node: ast.Call) -> bool:
    """Whether it has nothing but arguments by position, each written down."""
    return not node.keywords and not any(isinstance(each, ast.Starred) for each in node.args)


def turned(value: Value) -> Value:
    """The same from its end to its beginning."""
    if isinstance(value, Items):
        return Items(value.nodes[::-1], value.scope, is_ordered=value.is_ordered)
    if isinstance(value, Const) and isinstance(value.value, str | bytes):
        return Const(value.value[::-1])
    return None


def _joined(resolver: Resolves, between: str, node: ast.expr, scope: Scope) -> Value:
    value = resolver.resolve(node, scope)
    parts: list[Value] = []
    if isinstance(value, Items):
        if not is_plain(value):
            return None
        parts = resolved_items(resolver, value)
    elif isinstance(value, Const) and isinstance(value.value, str):
        parts = [Const(letter) for letter in value.value]
    elif isinstance(node, ast.ListComp | ast.GeneratorExp) and not between:
        return _letters(resolver, node, scope)
    elif isinstance(node, ast.Call) and not between:
        return _mapped(resolver, node, scope)
    else:
        return None
    spaced: list[Value] = []
    for part in parts:
        spaced += [part] if not spaced else [Const(between), part]
    return folding.joined_parts(spaced)


def _letters(resolver: Resolves, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> Value:
    """`chr(x) for x in [1, 2, 3]`, with arithmetic left out: then it is not known."""
    maker = node.elt
    if len(node.generators) != 1 or not isinstance(maker, ast.Call):
        return None
    each = node.generators[0]
    given = [argument.id if isinstance(argument, ast.Name) else None for argument in maker.args]
    if not isinstance(each.target, ast.Name) or given != [each.target.id]:
        return None
    if each.ifs or each.is_async or not is_plain_call(maker):
        return None
    function = resolver.resolve(maker.func, scope)
    return _each_called(resolver, function, resolver.resolve(each.iter, scope))


def _mapped(resolver: Resolves, node: ast.Call, scope: Scope) -> Value:
    """`map(chr, [1, 2, 3])`."""
    function = resolver.resolve(node.func, scope)
    is_map = isinstance(function, Ref) and function.name == "builtins.map"
    if not is_map or len(node.args) != _MAPPED:
        return None
    maker = resolver.resolve(node.args[0], scope)
    return _each_called(resolver, maker, resolver.resolve(node.args[1], scope))


def _each_called(resolver: Resolves, function: Value, value: Value) -> Value:
    if not isinstance(function, Ref):
        return None
    parts: list[Value] = []
    if isinstance(value, Items):
        if not is_plain(value):
            return None
        parts = resolved_items(resolver, value)
    elif isinstance(value, Const) and isinstance(value.value, bytes):
        if len(value.value) > MOST_PARTS:
            return None
        parts = [Const(number) for number in value.value]
    made = [
        folding.function_called(function.name, [part.value]) if isinstance(part, Const) else None
        for part in parts
    ]
    return folding.joined_parts(made) if made else None
