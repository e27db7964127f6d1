"""Reaching things by their names at run time: `getattr`, `vars`, `attrgetter`, templates.

A name that is a constant is that attribute; any other may be every one, which on a module with powers,
or on something that is not known, counts as any code.
"""

import ast
from typing import Final

from consentry.examine.python import calls
from consentry.examine.python.attributes import attribute_of
from consentry.examine.python.findings import REFLECTION, Findings, short
from consentry.examine.python.resolves import BUILTINS
from consentry.examine.python.scopes import Mode, Scope
from consentry.examine.python.subscripts import looked_up
from consentry.examine.python.values import (
    Const,
    ConstMethod,
    Namespace,
    Ref,
    Value,
    alternatives,
)

GETTERS: Final = frozenset({"operator.attrgetter", "operator.methodcaller"})
ON_WHOLE: Final = frozenset({"inspect.getmembers", "builtins.setattr", "functools.partial"})
"""Functions that take an object for all that is in it, or put something into it."""

_LISTING: Final = frozenset({"keys", "__contains__", "clear"})
_MODES: Final = {
    Mode.GET: "__getitem__",
    Mode.STORE: "__setitem__",
    Mode.CONTAINS: "__contains__",
}


def get_attribute(findings: Findings, node: ast.Call, scope: Scope) -> None:
    """`getattr(value, name)`."""
    if len(node.args) < 2:  # noqa: PLR2004 - an object and a name
        if any(isinstance(each, ast.Starred) for each in node.args):
            findings.add_any_code("getattr() with a computed name", node.lineno)
        return
    owner = findings.resolver.resolve(node.args[0], scope)
    name = findings.resolver.constant(node.args[1], scope)
    if isinstance(name, str):
        _attribute_by_name(findings, owner, name, node.lineno)
    elif any(map(findings.may_hold_power, alternatives(owner))):
        findings.add_any_code("getattr() with a computed name", node.lineno)


def get_directly(findings: Findings, function: str, node: ast.Call, scope: Scope) -> None:
    """`object.__getattribute__(value, name)`, `value.__getattribute__(name)`."""
    if isinstance(findings.resolver.constant(node.args[-1], scope), str):
        findings.name(findings.resolver.resolve(node, scope), node.lineno)
    else:
        findings.add_any_code(f"{short(function)}()", node.lineno)


def get_later(findings: Findings, node: ast.Call, scope: Scope) -> None:
    """`attrgetter(name)` and `methodcaller(name)`: as `getattr` on whatever they are given later."""
    if not node.args:
        return
    name = findings.resolver.constant(node.args[0], scope)
    if not isinstance(name, str):
        findings.add_any_code("attrgetter() with a computed name", node.lineno)
        return
    parts = name.split(".")
    for number, part in enumerate(parts):
        _attribute_by_name(findings, None, part, node.lineno)
        if number:
            borrowed = attribute_of(findings.resolver, Ref("."), parts[number - 1])
            _attribute_by_name(findings, borrowed, part, node.lineno)


def _attribute_by_name(findings: Findings, owner: Value, name: str, line: int) -> None:
    if name == "__self__" and any(each is None for each in alternatives(owner)):
        findings.add_any_code("the owner of a function by name", line)
    if name in findings.tables.attributes:
        findings.add_named(findings.tables.attributes[name], f".{name}", line)
    for each in alternatives(owner):
        if each is None:
            findings.unresolved.setdefault(name, line)
        else:
            findings.name(attribute_of(findings.resolver, each, name), line)


def reach_whole(findings: Findings, name: str, node: ast.Call, scope: Scope) -> None:
    """A call of one of `ON_WHOLE`."""
    owner = findings.resolver.resolve(node.args[0], scope)
    if name == "functools.partial":
        if isinstance(owner, Ref) and owner.name in REFLECTION:
            call = ast.Call(node.args[0], node.args[1:], node.keywords)
            call.lineno = node.lineno
            get_attribute(findings, call, scope)
        return
    for each in alternatives(owner):
        if not isinstance(each, Ref):
            continue
        if name == "builtins.setattr":
            if findings.tables.canonical(each.name) == BUILTINS:
                findings.add_any_code("a built-in is replaced", node.lineno)
        elif findings.may_hold_power(each):
            findings.add_any_code(f"{short(name)}() of a module with powers", node.lineno)


def fill_template(findings: Findings, method: ConstMethod, node: ast.Call) -> None:
    """`"{0.name}".format(…)`: a template that walks to attributes which are watched on any object."""
    text = method.owner.value if isinstance(method.owner, Const) else None
    if isinstance(text, str) and "{" in text and "__" in text:
        for name, effects in findings.tables.attributes.items():
            if f".{name}" in text:
                findings.add_named(effects, f".{name}", node.lineno)


def ask_namespace(
    findings: Findings, method: str, owner: Namespace, node: ast.Call, scope: Scope
) -> None:
    """`vars(os).get("system")` is that member; to go through all of them is to reach any."""
    if method in calls.LOOKS_UP and node.args:
        look_into(findings, owner, node.args[0], Mode.GET, scope)
    elif method not in _LISTING and findings.may_hold_power(owner):
        findings.add_any_code("a namespace as a whole", node.lineno)


def look_into(
    findings: Findings, value: Value, key_node: ast.expr, mode: Mode, scope: Scope
) -> None:
    """`value[key]` of a module's namespace, or of something that the tables have a row for."""
    match value:
        case Ref():
            _member_by_key(findings, value, key_node, mode, scope)
        case Namespace() if mode is Mode.GET:
            key = findings.resolver.constant(key_node, scope)
            if isinstance(key, str):
                findings.name(looked_up(findings.resolver, value, key), key_node.lineno)
            elif findings.may_hold_power(value):
                findings.add_any_code("a namespace with a computed name", key_node.lineno)
        case Namespace(owner=Ref() as owner) if mode is Mode.STORE:
            findings.patch(f"{owner.name}.*", key_node.lineno)


def _member_by_key(
    findings: Findings, value: Ref, key_node: ast.expr, mode: Mode, scope: Scope
) -> None:
    name, line = findings.tables.canonical(value.name), key_node.lineno
    listed = findings.tables.listed(f"{name}.{_MODES[mode]}")
    if listed is not None:
        call = ast.Call(key_node, [key_node], [])
        call.lineno = line
        findings.add_called(listed, f"{short(name)}[]", call, scope)
    elif name == BUILTINS:
        key = findings.resolver.constant(key_node, scope)
        if mode is Mode.STORE or not isinstance(key, str):
            findings.add_any_code("builtins with a computed name", line)
        else:
            findings.name_member(f"{BUILTINS}.{key}", line)
    elif mode is not Mode.STORE or not name.endswith("environ"):
        findings.name_member(name, line)
