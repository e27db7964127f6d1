"""Attributes: members of modules, methods of objects that the tables know, members of own classes."""

import ast
from typing import Final

from consentry.examine.python import paths
from consentry.examine.python.names import bound, may_change
from consentry.examine.python.resolves import BUILTINS, Resolves
from consentry.examine.python.scopes import Scope
from consentry.examine.python.values import (
    Const,
    ConstMethod,
    Either,
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

_BORROWED: Final = {
    **{
        name: name
        for name in (
            *("os", "sys", "subprocess", "socket", "builtins", "importlib", "shutil", "pickle"),
            *("marshal", "ctypes", "posix", "pty", "runpy", "pathlib", "tempfile", "urllib"),
        )
    },
    "cPickle": "pickle",
    "__builtins__": "builtins",
    "urllib_request": "urllib.request",
    "http_client": "http.client",
}
"""Modules that others hand on under their own names."""


def attribute(resolver: Resolves, node: ast.Attribute, scope: Scope) -> Value:
    """A chain of attributes, which may be long, without a step down for each."""
    names = [node.attr]
    base = node.value
    while isinstance(base, ast.Attribute):
        names.append(base.attr)
        base = base.value
    value = resolver.resolve(base, scope)
    for name in reversed(names):
        if value is None:
            return None
        value = attribute_of(resolver, value, name)
    return value


def attribute_of(resolver: Resolves, value: Value, name: str) -> Value:
    """`value.name`."""
    if value.__class__ is Ref:
        return _member(resolver, value.name, name)
    match value:
        case Either():
            return either([attribute_of(resolver, each, name) for each in value.values])
        case Instance():
            if name in ("__enter__", "__aenter__"):
                return value
            return paths.property_of(value, name) or Method(value, name)
        case LocalObject() | LocalClass():
            return _own_member(resolver, value.scope, name)
        case Const() | Items() | Table() | Namespace():
            return ConstMethod(value, name)
        case Method():
            return (
                value.owner if name == "__self__" else Method(value.owner, f"{value.name}.{name}")
            )
    return None


def _member(resolver: Resolves, owner: str, name: str) -> Value:
    if name == "__dict__":
        return Namespace(Ref(owner))
    if name == "__self__" and owner.startswith(f"{BUILTINS}."):
        return Ref(BUILTINS)
    if name == "__call__":
        return Ref(owner)
    qualified = f"{owner}.{name}"
    if qualified in paths.SEPARATORS:
        return Const(paths.SEPARATORS[qualified])
    if name in _BORROWED and not _is_listed(resolver, qualified):
        # Whatever module it was taken from: it is that one.
        return Ref(_BORROWED[name])
    return Ref(qualified)


def _is_listed(resolver: Resolves, qualified: str) -> bool:
    tables = resolver.tables
    return tables.listed(qualified) is not None or tables.is_module(qualified)


def _own_member(resolver: Resolves, scope: Scope, name: str) -> Value:
    """A member of a class of the file, or of the first class above it that is known."""
    place: Scope | None = scope
    seen: set[Scope] = set()
    while place is not None and place not in seen:
        seen.add(place)
        resolver.spend(1)
        if name in place.names or name in place.members:
            return _bound_member(resolver, place, name)
        above = _class_above(resolver, place)
        if isinstance(above, Ref):
            return Method(Instance(above.name), name)
        place = None if above is None else above.scope
    return None


def _class_above(resolver: Resolves, scope: Scope) -> Ref | LocalClass | None:
    for base in scope.bases:
        for value in alternatives(resolver.resolve(base, scope.parent or scope)):
            if isinstance(value, Ref) or (
                isinstance(value, LocalClass) and value.scope is not scope
            ):
                return value
    return None


def _bound_member(resolver: Resolves, scope: Scope, name: str) -> Value:
    key = f".{name}"
    if key not in scope.found:
        scope.found[key] = None
        # Another class may have the same attribute, and be what the object really is.
        gathered = resolver.gathered
        others = [each for each in gathered.class_values.get(name, ()) if each.scope is not scope]
        bindings = [*scope.names.get(name, ()), *scope.members.get(name, ()), *others]
        value = bound(resolver, bindings)
        if may_change(value) and (name in gathered.reassigned or resolver.may_set(name)):
            value = either([value, None])
        scope.found[key] = value
    found: Value = scope.found[key]
    return found
