"""Calls that may meet a race, and whether anybody handles it.

The rule, by syntax alone:

1. A call with the keyword `on_race` may raise `FilesystemRace`, whatever is called: `SandboxedPath.open`
   and all that is built on it take that keyword. Only a class (`Name(on_race=…)`) just keeps it.
2. It is handled where it stands in the body of a `try`, in the same function, with a handler for
   `FilesystemRace`, `Refused`, `ConsentryError`, `Exception`, `BaseException` or for everything; or in a
   `with suppress(…)` of one of them. A handler that ends by raising what it caught handles nothing,
   unless it is for `FilesystemRace` by name and does something before. `OSError` is none: the error is
   not one; nor is a name that the file gives to something else. What a generator does, it does later.
3. A function that has a keyword `on_race` without a default and passes it on is not reported: its
   callers are, because each of them has to write it.
4. In a private function (`_name`, or one within another) it is handled where every call of it in the
   file is, and there is one; a function that is handed on as a value could be called from anywhere.
"""

import ast
from collections.abc import Container
from typing import Final, TypeGuard

from consentry.base.values import dataclass, replace
from consentry.examine.fence.racenames import race_names
from consentry.examine.fence.shapes import called

KEYWORD: Final = "on_race"
RACE: Final = "FilesystemRace"
HANDLES: Final = frozenset({RACE, "Refused", "ConsentryError", "Exception", "BaseException"})

_SUPPRESSES: Final = "suppress"
_PARTIAL: Final = "partial"
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TRIES: Final = (ast.Try, ast.TryStar)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a node stands: its function, and whether a race would be caught before it leaves it."""

    function: "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None" = None
    is_handled: bool = False
    is_nested: bool = False
    """Whether the function stands in another one."""


def may_race(call: ast.Call, assigned: Container[str] = ()) -> bool:
    """Whether a call says what to do about a race, also through a dictionary that is written out."""
    for keyword in call.keywords:
        if keyword.arg == KEYWORD:
            break
        if keyword.arg is None and isinstance(keyword.value, ast.Dict):
            keys = keyword.value.keys
            if any(isinstance(key, ast.Constant) and key.value == KEYWORD for key in keys):
                break
    else:
        return False
    name = called(call.func)
    is_class = name[:1].isupper() and name not in assigned
    return not is_class


def unhandled_races(tree: ast.Module) -> list[ast.Call]:
    """The calls whose race nobody handles."""
    return _File(tree).unhandled()


class _File:
    def __init__(self, tree: ast.Module) -> None:
        self.racing: list[tuple[ast.Call, _Place]] = []
        self.calls: dict[str, list[_Place]] = {}
        """Where functions are called, by the last name of what is called."""
        self.values: set[str] = set()
        """Names that are used other than by calling them."""
        self.rebound: set[int] = set()
        """Functions that give their `on_race` another value."""
        self.names = race_names([*ast.walk(tree)], HANDLES | {_SUPPRESSES})
        self._walk(tree)
        self.values |= self.names.shown

    def unhandled(self) -> list[ast.Call]:
        safe = self._safe_functions()
        return [
            call
            for call, place in self.racing
            if (id(place.function) in self.rebound or not _passes_on(call, place))
            and (called(call.func) == _PARTIAL or not _is_handled(place, safe))
        ]

    def _safe_functions(self) -> set[str]:
        """Private functions of which every call, through as many others as it takes, is handled."""
        leads: dict[str, set[str]] = {}
        open_ended, caught = set[str](), set[str]()
        for name, places in self.calls.items():
            for place in places:
                around = _private_name(place)
                if place.is_handled:
                    caught.add(name)
                elif around:
                    leads.setdefault(around, set()).add(name)
                else:
                    open_ended.add(name)
        # What nobody calls, and what is handed on, may be called from where nobody looks.
        open_ended |= self.values | {name for name in leads if name not in self.calls}
        open_ended |= self.names.twice
        return _spread(caught, leads) - _spread(open_ended, leads)

    def _walk(self, tree: ast.Module) -> None:
        stack: list[tuple[ast.AST, _Place]] = [(tree, _Place())]
        callees: set[int] = set()
        while stack:
            node, place = stack.pop()
            if isinstance(node, ast.Call):
                callees.add(id(node.func))
                name = called(node.func)
                is_later = name in self.names.lazy and id(node) in self.names.kept
                called_at = replace(place, is_handled=False) if is_later else place
                self.calls.setdefault(name, []).append(called_at)
                if may_race(node, self.names.assigned):
                    self.racing.append((node, place))
            elif isinstance(node, ast.Name) and node.id == KEYWORD and not _is_read(node):
                self.rebound.add(id(place.function))
            elif _is_read(node) and id(node) not in callees:
                self.values.add(called(node))
            stack.extend(self._parts(node, place))

    def _parts(self, node: ast.AST, place: _Place) -> list[tuple[ast.AST, _Place]]:
        """The children of a node, each with its place; what is met first is last."""
        children = [*ast.iter_child_nodes(node)][::-1]
        if isinstance(node, _FUNCTIONS):
            inner = _Place(node, is_nested=place.function is not None)
            body = {id(each) for each in _body_of(node)}
            return [(each, inner if id(each) in body else place) for each in children]
        if isinstance(node, ast.Return | ast.Assign) and isinstance(node.value, ast.GeneratorExp):
            return [(each, replace(place, is_handled=False)) for each in children]
        is_covered = False
        if isinstance(node, _TRIES):
            is_covered = self._handled_by(node.handlers)
        elif isinstance(node, ast.With | ast.AsyncWith):
            is_covered = any(map(self._suppresses, node.items))
        if not is_covered:
            return [(each, place) for each in children]
        covered = replace(place, is_handled=True)
        body = {id(each) for each in node.body}  # type: ignore[attr-defined] # both have one
        return [(each, covered if id(each) in body else place) for each in children]

    def _handled_by(self, handlers: list[ast.ExceptHandler]) -> bool:
        """Whether the first handler that a race meets does something about it."""
        for handler in handlers:
            if handler.type is None or self._names_a_handler(handler.type):
                done = [each for each in handler.body if not _is_nothing(each)]
                is_raised = bool(done) and _raises_again(done[-1], handler.name)
                is_meant = handler.type is not None and called(handler.type) == RACE
                return not is_raised or (is_meant and len(done) > 1)
        return False

    def _names_a_handler(self, caught: ast.expr) -> bool:
        named = caught.elts if isinstance(caught, ast.Tuple) else [caught]
        return any(called(each) in HANDLES - self.names.others for each in named)

    def _suppresses(self, item: ast.withitem) -> bool:
        match item.context_expr:
            case ast.Call(func=function, args=arguments) if called(function) == _SUPPRESSES:
                is_other = _SUPPRESSES in self.names.others
                return not is_other and any(map(self._names_a_handler, arguments))
        return False


def _spread(names: set[str], leads: dict[str, set[str]]) -> set[str]:
    """The names, and all that they lead to."""
    found, waiting = set(names), [*names]
    while waiting:
        new = leads.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _is_handled(place: _Place, safe: set[str]) -> bool:
    return place.is_handled or _private_name(place) in safe


def _is_read(node: ast.AST) -> TypeGuard[ast.Name | ast.Attribute]:
    return isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)


def _body_of(node: ast.AST) -> list[ast.AST]:
    body = node.body  # type: ignore[attr-defined] # functions and lambdas have one
    return body if isinstance(body, list) else [body]


def _is_nothing(node: ast.stmt) -> bool:
    """`pass`, `...` and a text."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass) or is_text


def _raises_again(node: ast.stmt, name: str | None) -> bool:
    match node:
        case ast.Raise(exc=None):
            return True
        case ast.Raise(exc=ast.Name(id=raised)):
            return raised == name
    return False


def _private_name(place: _Place) -> str:
    """The name of a function that only its file can call; empty where others could."""
    function = place.function
    if function is None or isinstance(function, ast.Lambda):
        return ""
    is_private = function.name.startswith("_") and not function.name.endswith("__")
    return function.name if is_private or place.is_nested else ""


def _passes_on(call: ast.Call, place: _Place) -> bool:
    """Whether the function got `on_race` from its caller, and gives the very same."""
    if place.function is None:
        return False
    given = place.function.args
    required = {
        each.arg
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if default is None
    }
    return KEYWORD in required and any(
        keyword.arg == KEYWORD
        and isinstance(keyword.value, ast.Name)
        and keyword.value.id == KEYWORD
        for keyword in call.keywords
    )
