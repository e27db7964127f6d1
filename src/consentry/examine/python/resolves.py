"""Whoever resolves expressions, as the parts of the resolver see it.

Names, attributes, subscripts, texts and calls lead to one another; each part asks for the others
through this, so that no module has to know the one that knows it.
"""

import ast
from typing import Final, Protocol

from consentry.examine.knowledge.reader import Knowledge
from consentry.examine.python.gathered import Gathered
from consentry.examine.python.scopes import Scope
from consentry.examine.python.values import Value

BUILTINS: Final = "builtins"
MOST_PARTS: Final = 256
"""So many items of what is written out are looked at."""


class Unknown:
    """What stands in the place of a constant where there is none."""

    __slots__ = ()


UNKNOWN: Final = Unknown()


class Resolves(Protocol):
    """Resolves expressions of one file."""

    tables: Knowledge
    gathered: Gathered
    may_rebind: bool
    """Whether names of the file may be bound by what is not written down in it."""
    stars: tuple[str, ...]
    """Modules that the tables know, imported with all their names."""
    builtins: frozenset[str]
    """Names that stand for something where nothing binds them."""

    def may_set(self, name: str) -> bool:
        """Whether an attribute of that name may be something else than what was assigned to it."""
        ...

    def spend(self, steps: int) -> None:
        """Counts work that grows faster than the file; raises `TooMuch` where that has no end."""
        ...

    def resolve(self, node: ast.expr, scope: Scope) -> Value:
        """What an expression may be."""
        ...

    def lookup(self, scope: Scope, name: str) -> Value:
        """What a name is, seen from a scope."""
        ...

    def constant(self, node: ast.expr, scope: Scope) -> object:
        """The plain constant that an expression is; `UNKNOWN` where it is none, or may be others."""
        ...
