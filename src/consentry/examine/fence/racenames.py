"""What the names of a file stand for, as far as the handling of a race goes.

A handler counts by the name of its error, so a name that the file binds to something else is none. A
function that runs only when its result is used, a generator or a coroutine, is not run where it is called.
"""

import ast
from typing import Final

from consentry.base.values import dataclass, field
from consentry.examine.fence.shapes import called

_OURS: Final = "consentry"
_PLACES: Final = {"suppress": "contextlib"}
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class RaceNames:
    """The names of one file."""

    others: set[str] = field(default_factory=set)
    """Names of errors, and of `suppress`, that stand for something else here."""
    assigned: set[str] = field(default_factory=set)
    """Names that get a value, so that one with a capital need not be a class."""
    lazy: set[str] = field(default_factory=set)
    """Functions whose body runs later than their call."""
    twice: set[str] = field(default_factory=set)
    """Names of several functions, whose calls cannot be told apart."""
    shown: set[str] = field(default_factory=set)
    """What the file lists in `__all__`."""
    kept: set[int] = field(default_factory=set)
    """Calls whose result is given on as it is, not used at once."""


def race_names(nodes: list[ast.AST], wanted: frozenset[str]) -> RaceNames:
    """What the file binds; `wanted` are the names that count in handlers."""
    found, functions = RaceNames(), set[str]()
    for node in nodes:
        match node:
            case ast.ImportFrom(module=module, names=aliases, level=level):
                for alias in aliases:
                    _imported(found, "" if level else module or "", alias, wanted)
            case ast.ClassDef(name=name):
                found.others.update({name} & wanted)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.others.update({name} & wanted)
                if name in functions:
                    found.twice.add(name)
                functions.add(name)
                if isinstance(node, ast.AsyncFunctionDef) or _yields(node):
                    found.lazy.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.others.update({name} & wanted)
                found.assigned.add(name)
            case ast.Return(value=ast.Call() as call) | ast.NamedExpr(value=ast.Call() as call):
                found.kept.add(id(call))
            case ast.Assign(value=value):
                _assigned(found, node, value)
    return found


def _imported(found: RaceNames, module: str, alias: ast.alias, wanted: frozenset[str]) -> None:
    bound = alias.asname or alias.name
    if bound not in wanted:
        return
    place = _PLACES.get(bound, _OURS)
    is_from_there = not module or module.partition(".")[0] == place
    if alias.name != bound or not is_from_there:
        found.others.add(bound)


def _assigned(found: RaceNames, node: ast.Assign, value: ast.expr) -> None:
    if isinstance(value, ast.Call):
        found.kept.add(id(value))
    if "__all__" in map(called, node.targets):
        texts = (each.value for each in ast.walk(value) if isinstance(each, ast.Constant))
        found.shown.update(each for each in texts if isinstance(each, str))


def _yields(function: ast.FunctionDef) -> bool:
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False
