"""What one pass over a file gathers: its scopes, its imports, and what is changed behind their backs."""

import ast
from collections import deque
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from consentry.examine.python.scopes import Binding, How, Kind, Scope
from consentry.examine.python.uses import Uses

Stack = list[Any]
"""Nodes that are still to be walked, the next one last."""


class Gathered:
    """All that a walk finds; the walk fills it, and nobody changes it afterwards."""

    def __init__(self, tree: ast.Module, watched: Iterable[str]) -> None:
        self.tree = tree
        self.module = Scope(Kind.MODULE, None)
        self.scopes: list[Scope] = []
        """In the order they were entered."""
        self.classes: list[Scope] = []
        self.lambdas: dict[ast.Lambda, Scope] = {}
        self.imports: list[tuple[str, int, tuple[str, ...], int]] = []
        """Module, level, names and line of each."""
        self.stars: list[str] = []
        """Modules that were imported with all their names."""
        self.paths: list[ast.Constant] = []
        """Constants that look like absolute paths."""
        self.commands: list[ast.Constant] = []
        """Constants in which git is named."""
        self.watched_names = frozenset(watched)
        self.watched: list[ast.Attribute] = []
        """Attributes whose names are watched on any object."""
        self.matched: list[tuple[str, int]] = []
        """Attributes that patterns look at."""
        self.changed: set[str] = set()
        """Names whose values are changed in place: lists, dictionaries, what others alias."""
        self.reassigned: set[str] = set()
        """Attributes that are set from outside of their class."""
        self.set_loosely: set[str] = set()
        """Attributes that get what no assignment shows: in a loop, a context, a part of a tuple."""
        self.has_made_classes = False
        """Whether classes are made by something of the file's choice: a decorator, a metaclass."""
        self.used_names: set[str] = set()
        """Names that begin a call, a chain of attributes or a subscript."""
        self.any_changed = False
        """Whether names are bound that are not written down: through `globals()`."""
        self.tested: list[tuple[Scope, list[ast.expr]]] = []
        """What `isinstance` compares with; used only where it is somebody else's function."""
        self.by_name: list[tuple[Scope, ast.Call]] = []
        """Calls with a name and a text behind it, which is that of an attribute."""
        self.given: list[tuple[str, str]] = []
        """Functions by name, and the names that they are given."""
        self.handed: frozenset[str] = frozenset()
        """Names that are given to functions of this file, which may change what they stand for."""
        self.aliases: list[tuple[str, str]] = []
        self.waiting: deque[tuple[Scope, Stack]] = deque()
        """Scopes that were entered and not yet walked."""
        self.type_checking: list[tuple[ast.If, Scope]] = []
        """Blocks that may be for type checkers alone."""

    @cached_property
    def class_values(self) -> dict[str, list[Binding]]:
        """What classes assign to names in their bodies, over all classes."""
        found: dict[str, list[Binding]] = {}
        for scope in self.classes:
            for name, bindings in scope.names.items():
                for each in bindings:
                    if each.how is How.VALUE:
                        found.setdefault(name, []).append(each)
        return found

    @cached_property
    def bound(self) -> frozenset[str]:
        """Every name that is bound anywhere in the file."""
        return frozenset(name for scope in self.scopes for name in scope.names)

    @cached_property
    def uses(self) -> Uses:
        """Where names are used; asked for few files."""
        return Uses(self.tree)

    def forget(self) -> None:
        """Takes the scopes apart, which lead back to themselves and would be kept for long."""
        for scope in self.scopes:
            scope.forget()
        self.scopes.clear()

    def spread_changes(self) -> None:
        """Whoever changes an alias changes what it stands for; so may a function that is given it."""
        own = {
            name
            for scope in self.scopes
            for name, bindings in scope.names.items()
            if any(binding.how is How.FUNCTION for binding in bindings)
        }
        self.handed = frozenset(name for function, name in self.given if function in own)
        beside: dict[str, set[str]] = {}
        for one, other in self.aliases:
            beside.setdefault(one, set()).add(other)
            beside.setdefault(other, set()).add(one)
        waiting = list(self.changed)
        while waiting:
            new = beside.get(waiting.pop(), set()) - self.changed
            self.changed |= new
            waiting += new
