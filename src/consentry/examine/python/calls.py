"""What a call gives: an object that the tables know, a module by its name, a constant, a thing of ours."""

import ast
from collections.abc import Callable
from typing import Final

from consentry.examine.knowledge.effects import Effect, Power
from consentry.examine.python import folding, items, paths, texts
from consentry.examine.python.attributes import attribute_of
from consentry.examine.python.resolves import Resolves
from consentry.examine.python.scopes import Scope
from consentry.examine.python.subscripts import looked_up
from consentry.examine.python.values import (
    Const,
    ConstMethod,
    Function,
    Getter,
    Instance,
    Items,
    LocalClass,
    LocalObject,
    Method,
    Namespace,
    Ref,
    Table,
    Value,
    alternatives,
    either,
)

BY_NAME: Final = "__getattribute__"
LOOKS_UP: Final = frozenset({"get", "pop", "setdefault", "__getitem__"})
"""Methods of a dictionary that give one of its values."""

_MOST_RETURNS: Final = 8


def call(resolver: Resolves, node: ast.Call, scope: Scope) -> Value:
    """What calling gives, whichever function it may be."""
    function = resolver.resolve(node.func, scope)
    if function is None:
        return None
    return either([_called(resolver, each, node, scope) for each in alternatives(function)])


def _called(resolver: Resolves, function: Value, node: ast.Call, scope: Scope) -> Value:
    match function:
        case Ref():
            return _reference_called(resolver, function.name, node, scope)
        case Method():
            return _method_called(resolver, function, node, scope)
        case ConstMethod():
            return _written_out_asked(resolver, function, node, scope)
        case Function():
            returns = function.scope.returns
            found = [resolver.resolve(each, function.scope) for each in returns[:_MOST_RETURNS]]
            return either([*found, None] if len(returns) > _MOST_RETURNS else found)
        case LocalClass():
            return LocalObject(function.scope)
        case Getter() if node.args:
            return got(resolver, function, resolver.resolve(node.args[0], scope))
    return None


def got(resolver: Resolves, getter: Getter, value: Value) -> Value:
    """What a getter takes from a value."""
    for part in getter.name.split("."):
        value = either(
            [
                looked_up(resolver, each, part)
                if isinstance(each, Namespace)
                else attribute_of(resolver, each, part)
                for each in alternatives(value)
            ]
        )
    return value


def _reference_called(resolver: Resolves, given: str, node: ast.Call, scope: Scope) -> Value:
    name = resolver.tables.canonical(given)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(resolver, node, scope)
    if name in _FIRST and node.args:
        return resolver.resolve(node.args[0], scope)
    if name.endswith(f".{BY_NAME}") and node.args:
        got = resolver.constant(node.args[-1], scope)
        owner = Ref(name.removesuffix(f".{BY_NAME}"))
        return attribute_of(resolver, owner, got) if isinstance(got, str) else None
    made = paths.called(resolver, name, node, scope)
    if made is None and folding.is_folded(name) and node.args:
        plain = texts.constants(resolver, node, scope)
        made = None if plain is None else folding.function_called(name, plain)
    if made is not None:
        return made
    return _made_by(resolver, name, resolver.tables.member(name) or (), node, scope)


def _reflected(resolver: Resolves, node: ast.Call, scope: Scope) -> Value:
    """`getattr(value, "name")`."""
    if len(node.args) < 2:  # noqa: PLR2004 - an object and a name
        return None
    name = resolver.constant(node.args[1], scope)
    if not isinstance(name, str):
        return None
    return attribute_of(resolver, resolver.resolve(node.args[0], scope), name)


def _namespace(resolver: Resolves, node: ast.Call, scope: Scope) -> Value:
    """`vars(value)`, `globals()`."""
    return Namespace(resolver.resolve(node.args[0], scope) if node.args else None)


def _getter(resolver: Resolves, node: ast.Call, scope: Scope) -> Value:
    """`operator.attrgetter("name")`."""
    name = resolver.constant(node.args[0], scope) if node.args else None
    return Getter(name) if isinstance(name, str) else None


def _turned(resolver: Resolves, node: ast.Call, scope: Scope) -> Value:
    """`reversed(value)`."""
    return texts.turned(resolver.resolve(node.args[0], scope)) if node.args else None


def _made_by(
    resolver: Resolves, name: str, effects: tuple[Effect, ...], node: ast.Call, scope: Scope
) -> Value:
    """What the row of a function says that it returns."""
    for effect in effects:
        if effect.power is Power.RETURNS and effect.arguments:
            position = effect.arguments[0].position or 0
            given = resolver.resolve(node.args[position], scope) if node.args[position:] else None
            return either([_module_named(each) for each in alternatives(given)])
    made = resolver.tables.returned(name)
    return None if made is None else Instance(made)


def _module_named(value: Value) -> Value:
    name = value.value if isinstance(value, Const) else None
    return Ref(name) if isinstance(name, str) and name else None


def _method_called(resolver: Resolves, method: Method, node: ast.Call, scope: Scope) -> Value:
    joined = paths.method_called(resolver, method, node, scope)
    if joined is not None:
        return joined
    effects = resolver.tables.method(method.owner.name, method.name)
    return _made_by(resolver, f"{method.owner.name}.{method.name}", effects, node, scope)


def _written_out_asked(
    resolver: Resolves, method: ConstMethod, node: ast.Call, scope: Scope
) -> Value:
    """A method of what is written out: of a text, a list, a dictionary, a namespace."""
    owner, name = method.owner, method.name
    if isinstance(owner, Namespace | Table):
        if name not in LOOKS_UP or not node.args:
            return None
        key = resolver.constant(node.args[0], scope)
        others = [resolver.resolve(each, scope) for each in node.args[1:2]]
        return either([looked_up(resolver, owner, key), *others])
    if isinstance(owner, Items):
        return items.each_of(resolver, owner) if name == "pop" else None
    return texts.method_called(resolver, owner.value, name, node, scope)


_SPECIAL: Final[dict[str, Callable[[Resolves, ast.Call, Scope], Value]]] = {
    "builtins.getattr": _reflected,
    "inspect.getattr_static": _reflected,
    f"builtins.object.{BY_NAME}": _reflected,
    f"builtins.type.{BY_NAME}": _reflected,
    f"builtins.super.{BY_NAME}": _reflected,
    "builtins.vars": _namespace,
    "builtins.globals": _namespace,
    "builtins.locals": _namespace,
    "operator.attrgetter": _getter,
    "operator.methodcaller": _getter,
    "operator.itemgetter": _getter,
    "builtins.reversed": _turned,
}
_FIRST: Final = frozenset(
    {
        *("functools.partial", "functools.partialmethod", "functools.wraps", "functools.cache"),
        *("functools.lru_cache", "staticmethod", "classmethod", "copy.copy", "copy.deepcopy"),
        *("builtins.iter", "builtins.next", "contextlib.closing", "contextlib.nullcontext"),
        *("weakref.ref", "weakref.proxy", "types.MethodType", "builtins.list", "builtins.tuple"),
    }
)
"""Functions that give, or stand for, their first argument."""
