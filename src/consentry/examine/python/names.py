"""What a name may be: through the scopes around it, what they bind, and the built-in names.

The order of statements does not count, only where a name is bound; a name bound more than once may be
any of its values. One that is bound only somewhere, or only later, may still be the built-in.
"""

import ast
from typing import Any, Final

from consentry.examine.knowledge.reader import Knowledge
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

_PLAIN: Final = frozenset(
    {
        *("dir", "type", "map", "filter", "chr", "ord", "str", "bytes", "bytearray", "object"),
        *("super", "reversed", "list", "tuple", "dict", "iter", "next", "sorted"),
    }
)
"""Built-in names that help to tell what something is, and give nothing."""
_REFLECTING: Final = frozenset(
    {"getattr", "setattr", "delattr", "vars", "globals", "locals", "__builtins__"}
)


def built_in_names(tables: Knowledge) -> frozenset[str]:
    """The names that stand for something where nothing binds them."""
    return _PLAIN | _REFLECTING.union(tables.powers_of(BUILTINS))


def found_name(resolver: Resolves, scope: Scope, name: str) -> Value:
    """What a name is, seen from a scope; methods do not see the names of their class."""
    place: Scope | None = scope
    while place is not None:
        if name in place.names and (place is scope or place.kind is not Kind.CLASS):
            if name not in place.values:
                bindings = place.names[name]
                # What leads back to the name itself meets the modules it may be.
                place.values[name] = either([Ref(str(e.payload)) for e in bindings if _is_ref(e)])
                place.values[name] = _named(resolver, place, name, bindings)
            value: Value = place.values[name]
            given = builtin(resolver, name)
            if given is not None and _may_be_builtin(resolver, place, scope, name):
                return either([value, given])
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
    if name in _PLAIN:
        return since is None
    if since is None:
        spans = place.spans.get(name)
        return not (spans and place is scope and gathered.uses.is_within(name, spans))
    if since == ALWAYS:
        return False
    return gathered.uses.may_unbind or gathered.uses.is_before(name, since, scope.lines)


def builtin(resolver: Resolves, name: str) -> Value:
    """What a name is that nothing binds: a member of what was imported with a star, or built in."""
    resolver.spend(len(resolver.stars))
    for star in resolver.stars:
        if resolver.tables.member(f"{star}.{name}"):
            return Ref(f"{star}.{name}")
    if name not in resolver.builtins:
        return None
    if name == "__builtins__":
        return Ref(BUILTINS)
    return Ref(f"{BUILTINS}.{name}")


def bound(resolver: Resolves, bindings: list[Binding]) -> Value:
    """What a name with these bindings may be."""
    resolver.spend(len(bindings))
    if len(bindings) == 1:
        return _value_of(resolver, bindings[0])
    few = bindings
    if len(bindings) > MOST_PARTS:
        few = [each for each in bindings if _is_ref(each)] + bindings[:MOST_PARTS]
    found = [_value_of(resolver, binding) for binding in few]
    return either([*found, None] if few is not bindings else found)


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
            # Nobody holds a caller to an annotation.
            value = either([_instance_of(resolver, resolver.resolve(payload, binding.scope)), None])
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
