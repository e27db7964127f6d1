"""What opens a scope of its own: functions, classes, comprehensions.

What runs at the definition (decorators, defaults, bases, what a comprehension first goes through) is
walked with the scope around it; the body waits until that scope is done.
"""

import ast
from typing import Final

from consentry.examine.python.binding import bind_unknown, note_certain, push_calls
from consentry.examine.python.gathered import Gathered, Stack
from consentry.examine.python.scopes import ALWAYS, How, Kind, Scope

_STATIC: Final = "staticmethod"


def function(
    gathered: Gathered, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, stack: Stack
) -> None:
    """`def name(…)`."""
    stack.extend(node.decorator_list)
    inner = _entered(node, scope, stack, node.decorator_list)
    if node.returns is not None:
        push_calls(node.returns, stack)
    scope.bind(node.name, How.FUNCTION, inner)
    if node.decorator_list:
        scope.bind(node.name, How.UNKNOWN, None)
    note_certain(node, node.name, scope)
    gathered.waiting.append((inner, node.body[::-1]))


def anonymous_function(gathered: Gathered, node: ast.Lambda, scope: Scope, stack: Stack) -> None:
    """`lambda …: value`."""
    inner = _entered(node, scope, stack, [])
    inner.returns.append(node.body)
    gathered.lambdas[node] = inner
    gathered.waiting.append((inner, [node.body]))


def own_class(gathered: Gathered, node: ast.ClassDef, scope: Scope, stack: Stack) -> None:
    """`class Name(…)`."""
    stack.extend(node.decorator_list)
    stack.extend(node.bases)
    stack.extend(keyword.value for keyword in node.keywords)
    inner = Scope(Kind.CLASS, scope)
    inner.lines = (node.lineno, node.end_lineno or node.lineno)
    inner.bases = node.bases
    gathered.has_made_classes |= bool(node.keywords or node.decorator_list)
    scope.bind(node.name, How.CLASS, inner)
    gathered.classes.append(inner)
    note_certain(node, node.name, scope)
    gathered.waiting.append((inner, node.body[::-1]))


def comprehension(
    gathered: Gathered,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    scope: Scope,
    stack: Stack,
) -> None:
    """`value for target in …`; what is gone through first belongs to the scope around it."""
    inner = Scope(Kind.COMPREHENSION, scope)
    inner.lines = (node.lineno, node.end_lineno or node.lineno)
    waiting: Stack = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for number, each in enumerate(node.generators):
        around = inner if number else scope
        (waiting if number else stack).append(each.iter)
        waiting.extend(each.ifs)
        if isinstance(each.target, ast.Name):
            inner.bind(each.target.id, How.EACH, each.iter, around)
            inner.certain[each.target.id] = ALWAYS
        else:
            bind_unknown(gathered, each.target, inner, waiting)
    gathered.waiting.append((inner, waiting))


def give_back(_: Gathered, node: ast.Return, scope: Scope, stack: Stack) -> None:
    """`return value`."""
    if node.value is not None:
        scope.returns.append(node.value)
        stack.append(node.value)


def _entered(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    scope: Scope,
    stack: Stack,
    decorators: list[ast.expr],
) -> Scope:
    """The scope of a function with its parameters; the first of a method is the object itself."""
    owner = scope if scope.kind is Kind.CLASS else None
    inner = Scope(Kind.FUNCTION, scope, owner)
    inner.lines = (node.lineno, node.end_lineno or node.lineno)
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    rest = positional
    if owner is not None and positional and not _is_static(decorators):
        inner.self_name = positional[0].arg
        inner.bind(inner.self_name, How.FIRST, owner)
        rest = positional[1:]
    others = [*given.kwonlyargs]
    others += [each for each in (given.vararg, given.kwarg) if each is not None]
    for each in (*rest, *others):
        if each.annotation is None:
            inner.bind(each.arg, How.UNKNOWN, None)
        else:
            inner.bind(each.arg, How.ANNOTATED, each.annotation, scope)
    _bind_defaults(given, positional, inner, scope, stack)
    for each in (*positional, *others):
        inner.certain[each.arg] = ALWAYS
        if each.annotation is not None:
            push_calls(each.annotation, stack)
    return inner


def _bind_defaults(
    given: ast.arguments, positional: list[ast.arg], inner: Scope, scope: Scope, stack: Stack
) -> None:
    defaulted = positional[len(positional) - len(given.defaults) :]
    for each, default in (
        *zip(defaulted, given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ):
        if default is not None:
            stack.append(default)
            inner.bind(each.arg, How.VALUE, default, scope)


def _is_static(decorators: list[ast.expr]) -> bool:
    return any(isinstance(each, ast.Name) and each.id == _STATIC for each in decorators)
