"""What an expression may be: names through scopes, attributes through modules and classes, calls.

Every expression is worked out once, or a few lines could keep us busy for ever. Depth is bounded, and
what lies deeper is not known. Nothing is guessed from the spelling of a name: a local function called
`open` is not the built-in one.
"""

import ast
from typing import Any, Final

from consentry.examine.knowledge.reader import Knowledge
from consentry.examine.python import attributes, calls, names, subscripts, texts
from consentry.examine.python.classtricks import have_tricks
from consentry.examine.python.gathered import Gathered
from consentry.examine.python.resolves import UNKNOWN, Resolves
from consentry.examine.python.scopes import Scope
from consentry.examine.python.values import Const, Function, Items, Table, TooMuch, Value, either

MOST_DEPTH: Final = 48
MOST_STEPS: Final = 5_000_000
"""So much is worked out for one file, some hundred times what large ones take."""
_NOT_YET: Final = object()


class Resolver:
    """Resolves expressions of one file."""

    def __init__(self, tables: Knowledge, gathered: Gathered) -> None:
        self.tables = tables
        self.gathered = gathered
        self.may_rebind = gathered.any_changed or any(
            star.startswith(".") or not tables.is_known(star) for star in gathered.stars
        )
        self.stars = tuple(filter(tables.is_known, dict.fromkeys(gathered.stars)))
        self.builtins = names.built_in_names(tables)
        self._has_tricks = have_tricks(gathered)
        self._depth = 0
        self._steps = 0
        self._known: dict[ast.expr, Value] = {}

    def lookup(self, scope: Scope, name: str) -> Value:
        """What a name is, seen from a scope."""
        value: Any = scope.found.get(name, _NOT_YET)
        if value is _NOT_YET:
            if self._depth >= MOST_DEPTH:
                return None
            self._depth += 1
            value = scope.found[name] = names.found_name(self, scope, name)
            self._depth -= 1
        return value  # type: ignore[no-any-return] # what was found is a value

    def may_set(self, name: str) -> bool:
        """Whether an attribute of that name may be something else than what was assigned to it."""
        return self._has_tricks or name in self.gathered.set_loosely

    def spend(self, steps: int) -> None:
        """Counts work that grows faster than the file; raises `TooMuch` where that has no end."""
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise TooMuch

    def resolve(self, node: ast.expr, scope: Scope) -> Value:
        """What an expression may be."""
        kind: Any = node.__class__
        if kind is ast.Name:
            return self.lookup(scope, node.id)  # type: ignore[attr-defined] # the class says it
        if kind is ast.Constant:
            return Const(node.value)  # type: ignore[attr-defined] # as above
        known = self._known
        if node in known:
            return known[node]
        way = _WAYS.get(kind)
        if way is None or self._depth >= MOST_DEPTH:
            return None
        known[node] = None  # what leads back to itself is not known
        self._depth += 1
        value: Value = way(self, node, scope)
        self._depth -= 1
        known[node] = value
        return value

    def constant(self, node: ast.expr, scope: Scope) -> object:
        """The plain constant that an expression is; `UNKNOWN` where it is none, or may be others."""
        value = self.resolve(node, scope)
        return value.value if isinstance(value, Const) else UNKNOWN


def _choice(resolver: Resolves, node: ast.IfExp, scope: Scope) -> Value:
    return either([resolver.resolve(node.body, scope), resolver.resolve(node.orelse, scope)])


def _any_of(resolver: Resolves, node: ast.BoolOp, scope: Scope) -> Value:
    return either([resolver.resolve(each, scope) for each in node.values])


def _inner(
    resolver: Resolves, node: ast.NamedExpr | ast.Await | ast.Starred, scope: Scope
) -> Value:
    return resolver.resolve(node.value, scope)


def _written_out(_: Resolves, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
    return Items(node.elts, scope, is_ordered=not isinstance(node, ast.Set))


def _dictionary(_: Resolves, node: ast.Dict, scope: Scope) -> Value:
    by_key: dict[object, list[ast.expr]] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant):
            return Table(node, scope)
        by_key.setdefault(key.value, []).append(value)
    return Table(node, scope, by_key)


def _own_function(resolver: Resolves, node: ast.Lambda, _: Scope) -> Value:
    inner = resolver.gathered.lambdas.get(node)
    return None if inner is None else Function(inner)


_WAYS: Final[dict[type, Any]] = {
    ast.Attribute: attributes.attribute,
    ast.Call: calls.call,
    ast.Subscript: subscripts.subscript,
    ast.BinOp: texts.operation,
    ast.UnaryOp: texts.negated,
    ast.JoinedStr: texts.f_string,
    ast.IfExp: _choice,
    ast.BoolOp: _any_of,
    ast.NamedExpr: _inner,
    ast.Await: _inner,
    ast.Starred: _inner,
    ast.List: _written_out,
    ast.Tuple: _written_out,
    ast.Set: _written_out,
    ast.Dict: _dictionary,
    ast.Lambda: _own_function,
}
