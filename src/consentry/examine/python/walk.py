"""One pass over a syntax tree: scopes with their bindings, and the places that may give powers.

No recursion: a scope is walked with a stack of its own and leaves the scopes in it for later, so that
depth of nesting costs nothing. This is the path that every node of every file takes; what is frequent
stands first and is written out.
"""

import ast
from collections.abc import Callable, Iterable
from typing import Any, Final

from consentry.examine.python import binding, entering, lookingin
from consentry.examine.python.annotations import READERS, annotations_in, are_read
from consentry.examine.python.classtricks import ATTRIBUTES
from consentry.examine.python.gathered import Gathered, Stack
from consentry.examine.python.scopes import Scope
from consentry.examine.python.typechecking import blocks_that_run, is_left_alone

PATH_STARTS: Final = frozenset("/~")

_NO_CHILDREN: Final = frozenset({"ctx", "op", "ops", "type_comment", "type_ignores", "kind"})
_TYPE_TESTS: Final = frozenset({"isinstance", "issubclass"})
_ON_OBJECTS: Final = frozenset(
    {"getattr", "hasattr", "setattr", "delattr", "vars", "dir", "id", "repr", "print", "callable"}
)
"""Built-in functions that do with an object what is looked at elsewhere, or nothing."""
_PUT_ASIDE: Final = frozenset({"setattr", "delattr", "object", "getattr_static"})
"""Methods of tests that put something in place of an attribute by its name."""
_CHANGING: Final = frozenset(
    {
        *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update"),
        *("setdefault", "popitem", "add", "discard", "__setitem__", "__delitem__", "__iadd__"),
    }
)


def walked(tree: ast.Module, watched: Iterable[str]) -> Gathered:
    """All that the tree has; `watched` are attributes that count on any object."""
    gathered = Gathered(tree, (*watched, *READERS, *ATTRIBUTES))
    gathered.waiting.append((gathered.module, tree.body[::-1]))
    _walk_all(gathered)
    is_trusted = not gathered.type_checking or is_left_alone(tree)
    while gathered.type_checking:
        gathered.waiting.extend(blocks_that_run(gathered, is_trusted=is_trusted))
        _walk_all(gathered)
    if are_read(gathered):
        gathered.waiting.append((gathered.module, list(annotations_in(tree))))
        _walk_all(gathered)
    redefined = _TYPE_TESTS | _ON_OBJECTS
    if any(not redefined.isdisjoint(scope.names) for scope in gathered.scopes):
        gathered.waiting.extend((scope, [*nodes]) for scope, nodes in gathered.tested)
        _walk_all(gathered)
    gathered.spread_changes()
    return gathered


def _walk_all(gathered: Gathered) -> None:
    entered = set(gathered.scopes)
    while gathered.waiting:
        scope, stack = gathered.waiting.popleft()
        if scope not in entered:
            entered.add(scope)
            gathered.scopes.append(scope)
            scope.direct.update(map(id, stack))
        _walk(gathered, scope, stack)


def _walk(gathered: Gathered, scope: Scope, stack: Stack) -> None:  # noqa: C901, PLR0912, PLR0915 - the hot loop
    pop, push, extend = stack.pop, stack.append, stack.extend
    calls, attributes, bare = scope.calls, scope.attributes, scope.bare
    watched_names, handlers, given = gathered.watched_names, _HANDLERS, gathered.given
    used_names = gathered.used_names
    while stack:
        node = pop()
        kind = node.__class__
        if kind is ast.Name:
            if node.id not in bare and node.ctx.__class__ is ast.Load:
                bare[node.id] = node
        elif kind is ast.Constant:
            value = node.value
            if value.__class__ is str and value[:1] in PATH_STARTS and len(value) > 1:
                gathered.paths.append(node)
            elif (value.__class__ is str and "git" in value) or (
                value.__class__ is bytes and b"git" in value
            ):
                gathered.commands.append(node)
        elif kind is ast.Call:
            calls.append(node)
            func = node.func
            while func.__class__ is ast.Attribute:
                if func.attr in watched_names:
                    gathered.watched.append(func)
                func = func.value
            if func.__class__ is not ast.Name:
                push(func)
                extend(node.args)
            elif func is node.func:
                used_names.add(func.id)
                for argument in node.args:
                    if argument.__class__ is ast.Name:
                        given.append((func.id, argument.id))
                if func.id in _TYPE_TESTS:
                    _push_tested(gathered, node, scope, stack)
                elif func.id in _ON_OBJECTS:
                    extend(node.args[1:])
                    _push_first(gathered, node, scope, stack)
                elif len(node.args) > 1:
                    push_by_name(gathered, node, scope, stack)
                else:
                    extend(node.args)
            else:
                used_names.add(func.id)
                if node.func.attr in _CHANGING:
                    gathered.changed.add(func.id)
                if len(node.args) > 1:
                    push_by_name(gathered, node, scope, stack)
                else:
                    extend(node.args)
            for keyword in node.keywords:
                push(keyword.value)
        elif kind is ast.Attribute:
            attributes.append(node)
            while node.__class__ is ast.Attribute:
                if node.attr in watched_names:
                    gathered.watched.append(node)
                node = node.value
            if node.__class__ is ast.Name:
                used_names.add(node.id)
            else:
                push(node)
        else:
            handler = handlers.get(kind)
            if handler is not None:
                handler(gathered, node, scope, stack)
            else:
                for name in _children(kind):
                    child = getattr(node, name)
                    if child.__class__ is list:
                        extend(reversed(child))
                    elif child is not None:
                        push(child)


def _push_tested(gathered: Gathered, node: ast.Call, scope: Scope, stack: Stack) -> None:
    """Of `isinstance(x, y)` the second argument is compared with and not used, by the built-in."""
    stack.extend(node.args[:1])
    for tested in node.args[1:]:
        binding.push_calls(tested, stack)
    gathered.tested.append((scope, node.args[1:]))


def _push_first(gathered: Gathered, node: ast.Call, scope: Scope, stack: Stack) -> None:
    """Of `getattr(x, name)` the object is not handed on, by the built-in."""
    for first in node.args[:1]:
        if isinstance(first, ast.Name):
            gathered.tested.append((scope, [first]))
        else:
            stack.append(first)


def push_by_name(gathered: Gathered, node: ast.Call, scope: Scope, stack: Stack) -> None:
    """`monkeypatch.setattr(module, "name", …)`: it is about that attribute."""
    first, second = node.args[0], node.args[1]
    function = node.func
    called = function.attr if isinstance(function, ast.Attribute) else None
    if (
        called in _PUT_ASIDE
        and isinstance(second, ast.Constant)
        and isinstance(second.value, str)
        and second.value.isidentifier()
        and isinstance(first, ast.Name)
    ):
        gathered.by_name.append((scope, node))
        stack.extend(node.args[1:])
    else:
        stack.extend(node.args)


def _expression(_: Gathered, node: ast.Expr, __: Scope, stack: Stack) -> None:
    if node.value.__class__ is not ast.Constant:
        stack.append(node.value)


def _while(_: Gathered, node: ast.While, __: Scope, stack: Stack) -> None:
    stack.extend(reversed(node.orelse))
    stack.extend(reversed(node.body))
    binding.push_condition(node.test, stack)


def _if_expression(_: Gathered, node: ast.IfExp, __: Scope, stack: Stack) -> None:
    stack += (node.orelse, node.body)
    binding.push_condition(node.test, stack)


def _assert(_: Gathered, node: ast.Assert, __: Scope, stack: Stack) -> None:
    if node.msg is not None:
        stack.append(node.msg)
    binding.push_condition(node.test, stack)


_FIELDS: Final[dict[type, tuple[str, ...]]] = {
    ast.JoinedStr: ("values",),
    ast.FormattedValue: ("value", "format_spec"),
}


def _children(kind: type) -> tuple[str, ...]:
    found = _FIELDS.get(kind)
    if found is None:
        # A None among the keys of a dictionary, or the name of a type variable, has no fields.
        names: Iterable[str] = getattr(kind, "_fields", ())
        # The stack turns their order: what stands first is walked first.
        found = tuple(name for name in reversed([*names]) if name not in _NO_CHILDREN)
        _FIELDS[kind] = found
    return found


_HANDLERS: Final[dict[type, Callable[[Gathered, Any, Scope, Stack], None]]] = {
    ast.Assign: binding.assign,
    ast.AnnAssign: binding.assign_annotated,
    ast.AugAssign: binding.assign_augmented,
    ast.NamedExpr: binding.assign_named,
    ast.For: binding.loop,
    ast.AsyncFor: binding.loop,
    ast.With: binding.enter_context,
    ast.AsyncWith: binding.enter_context,
    ast.ExceptHandler: binding.catch,
    ast.Match: binding.match,
    ast.Delete: binding.delete,
    ast.Global: binding.declare_global,
    ast.Nonlocal: binding.declare_nonlocal,
    ast.Import: binding.import_modules,
    ast.ImportFrom: binding.import_names,
    ast.If: binding.branch,
    ast.ListComp: entering.comprehension,
    ast.SetComp: entering.comprehension,
    ast.GeneratorExp: entering.comprehension,
    ast.DictComp: entering.comprehension,
    ast.FunctionDef: entering.function,
    ast.AsyncFunctionDef: entering.function,
    ast.Lambda: entering.anonymous_function,
    ast.ClassDef: entering.own_class,
    ast.Return: entering.give_back,
    ast.Expr: _expression,
    ast.While: _while,
    ast.IfExp: _if_expression,
    ast.Assert: _assert,
    ast.Subscript: lookingin.subscript,
    ast.Compare: lookingin.compare,
}
