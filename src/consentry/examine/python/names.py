"""What a name may be: through the scopes around it, what they bind, and the built-in names.

The order of statements does not count, only where a name is bound; a name bound more than once may be
any of its values. One that is bound only somewhere, or only later, may still be the built-in.
"""

import ast
from typing import Any, Final

from consentry.examine.python import items, paths
from consentry.examine.python.resolves import BUILTINS, MOST_PARTS, Resolves
from consentry.examine.python.scopes import ALWAYS, Binding, How, Kind, Scope
from consentry.examine.python.values import (
    Const,
    Function,
    Instance,
    Items,
    LocalClass,
    LocalObject,
    Partial,
    Ref,
    Table,
    Value,
    alternatives,
    either,
)

WITHOUT_ROW: Final = frozenset(
    {
        *("getattr", "setattr", "delattr", "vars", "globals", "locals", "dir", "type", "map"),
        *("filter", "chr", "ord", "str", "bytes", "bytearray", "object", "super", "reversed"),
        *("list", "tuple", "dict", "iter", "next", "sorted"),
    }
)
"""Built-in names that stand for something here, though no table speaks of them."""


def found_name(resolver: Resolves, scope: Scope, name: str) -> Value:
    """What a name is, seen from a scope; methods do not see the names of their class."""
    place: Scope | None = scope
    while place is not None:
        if name in place.names and (place is scope or place.kind is not Kind.CLASS):
            bindings = place.names[name]
            # What leads back to the name itself meets the modules it may be.
            scope.found[name] = either([Ref(str(e.payload)) for e in bindings if _is_ref(e)])
            value = _named(resolver, place, name, bindings)
            if resolver.is_builtin(name) and _may_be_builtin(resolver, place, scope, name):
                return either([value, builtin(resolver, name)])
            return value
        place = place.parent
    return builtin(resolver, name)


def _named(resolver: Resolves, place: Scope, name: str, bindings: list[Binding]) -> Value:
    """The value of a name in the scope that binds it; one that may change is not sure."""
    own = [each for each in bindings if not _is_itself(each, name)]
    value = bound(resolver, own) if own else None
    if len(own) < len(bindings):
        outer = resolver.lookup(place.parent, name) if place.parent else builtin(resolver, name)
        value = either([value, outer]) if own else outer
    gathered = resolver.gathered
    if name in gathered.handed and isinstance(value, Items | Table):
        return either([value, None])
    if name in gathered.changed or (resolver.may_rebind and place.kind is Kind.MODULE):
        return either([value, None]) if may_change(value) else value
    return value


def _may_be_builtin(resolver: Resolves, place: Scope, scope: Scope, name: str) -> bool:
    """Whether the built-in of that name may be meant, though the file binds the name itself."""
    gathered = resolver.gathered
    since = place.certain.get(name)
    if name in place.deleted:
        return True
    if since is None:
        spans = place.spans.get(name)
        return not (spans and place is scope and gathered.uses.is_within(name, spans))
    if since == ALWAYS:
        return False
    return gathered.uses.may_unbind or gathered.uses.is_before(name, since, scope.lines)


def builtin(resolver: Resolves, name: str) -> Value:
    """What a name is that nothing binds: a member of what was imported with a star, or built in."""
    member = resolver.tables.member
    for star in resolver.gathered.stars:
        if member(f"{star}.{name}"):
            return Ref(f"{star}.{name}")
    if name == "__builtins__":
        return Ref(BUILTINS)
    if name == "__name__":
        return Const("__main__")
    if name in WITHOUT_ROW or member(f"{BUILTINS}.{name}"):
        return Ref(f"{BUILTINS}.{name}")
    return None


def bound(resolver: Resolves, bindings: list[Binding]) -> Value:
    """What a name with these bindings may be."""
    if len(bindings) == 1:
        return _value_of(resolver, bindings[0])
    return either([_value_of(resolver, binding) for binding in bindings[:MOST_PARTS]])


def _value_of(resolver: Resolves, binding: Binding) -> Value:
    payload: Any = binding.payload
    value: Value = None
    match binding.how:
        case How.REFERENCE:
            value = Ref(payload)
        case How.VALUE:
            value = resolver.resolve(payload, binding.scope)
        case How.ITEM:
            node, position = payload
            value = items.item_of(resolver, resolver.resolve(node, binding.scope), position)
        case How.EACH:
            value = items.each_of(resolver, resolver.resolve(payload, binding.scope))
        case How.FUNCTION:
            value = Function(payload)
        case How.CLASS:
            value = LocalClass(payload)
        case How.FIRST:
            value = LocalObject(payload)
        case How.ANNOTATED:
            value = _instance_of(resolver, resolver.resolve(payload, binding.scope))
    return value


def _instance_of(resolver: Resolves, value: Value) -> Value:
    """An object of a class that an annotation names."""
    if isinstance(value, Ref):
        name = resolver.tables.canonical(value.name)
        if paths.is_path_class(name) or resolver.tables.returned(name) == name:
            return Instance(name)
    return None


def may_change(value: Value) -> bool:
    """Whether a later assignment would matter: constants and containers."""
    return any(isinstance(each, Const | Items | Table | Partial) for each in alternatives(value))


def _is_ref(binding: Binding) -> bool:
    return binding.how is How.REFERENCE


def _is_itself(binding: Binding, name: str) -> bool:
    payload = binding.payload
    return isinstance(payload, ast.Name) and payload.id == name and binding.how is How.VALUE
