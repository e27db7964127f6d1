"""Scopes and what they bind: modules, functions, classes, and the names in them.

A binding keeps the expression it was made from and is resolved when it is asked for.
"""

from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import ast

ALWAYS: Final = 0
"""The position since when a parameter has its value."""
MOST_LINES: Final = 1 << 32


class Mode(IntEnum):
    """How something is looked into."""

    GET = 0
    STORE = 1
    CONTAINS = 2


class Kind(IntEnum):
    """What a scope belongs to."""

    MODULE = 0
    FUNCTION = 1
    CLASS = 2
    COMPREHENSION = 3


class How(IntEnum):
    """How a name came to its value."""

    REFERENCE = 0
    """`payload` is a dotted name."""
    VALUE = 1
    """`payload` is the expression."""
    ITEM = 2
    """`payload` is an expression and the position in what it gives."""
    EACH = 3
    """`payload` is what is gone through."""
    FUNCTION = 4
    """`payload` is the scope of the function."""
    CLASS = 5
    """`payload` is the scope of the class."""
    FIRST = 6
    """The first parameter of a method; `payload` is the scope of the class."""
    ANNOTATED = 7
    """`payload` is the class that an annotation names."""
    UNKNOWN = 8


class Binding:
    """One binding of a name, and the scope its expression is read in."""

    __slots__ = ("how", "payload", "scope")

    def __init__(self, how: How, payload: object, scope: "Scope") -> None:
        self.how = how
        self.payload = payload
        self.scope = scope


class Scope:
    """A scope: its names, and the places in it that may give powers."""

    __slots__ = (
        "attributes",
        "bare",
        "bases",
        "calls",
        "certain",
        "deleted",
        "direct",
        "elsewhere",
        "found",
        "kind",
        "lines",
        "members",
        "names",
        "owner",
        "parent",
        "returns",
        "self_name",
        "spans",
        "subscripts",
        "values",
    )

    def __init__(self, kind: Kind, parent: "Scope | None", owner: "Scope | None" = None) -> None:
        self.kind = kind
        self.parent = parent
        self.owner = owner
        """Of a method, the scope of its class."""
        self.self_name: str | None = None
        self.lines = (0, MOST_LINES)
        """The first and the last line."""
        self.names: dict[str, list[Binding]] = {}
        self.members: dict[str, list[Binding]] = {}
        """Of a class: what its methods assign to attributes of `self`."""
        self.bases: list[ast.expr] = []
        self.elsewhere: dict[str, Scope] = {}
        """Names that were declared global or nonlocal, and the scope they belong to."""
        self.calls: list[ast.Call] = []
        self.attributes: list[ast.Attribute] = []
        self.subscripts: list[tuple[ast.expr, ast.expr, Mode]] = []
        """What is looked into, by what, and how."""
        self.bare: dict[str, ast.Name] = {}
        """Names that are used as they are, each where it is met first."""
        self.direct: set[int] = set()
        """The statements that stand in no other; what they bind is bound for certain."""
        self.certain: dict[str, int] = {}
        """Names that are bound for certain, and the position since when."""
        self.deleted: set[str] = set()
        self.spans: dict[str, list[tuple[int, int]]] = {}
        """Names of exceptions that were caught, and the lines in which they are that."""
        self.returns: list[ast.expr] = []
        self.values: dict[str, Any] = {}
        """What the names are that are bound here, as far as it was asked."""
        self.found: dict[str, Any] = {}
        """Names that were resolved from here."""

    def bind(self, name: str, how: How, payload: object, scope: "Scope | None" = None) -> None:
        """Adds a binding; a name that was declared to belong elsewhere is bound there."""
        place = self.elsewhere.get(name, self)
        binding = Binding(how, payload, self if scope is None else scope)
        place.names.setdefault(name, []).append(binding)

    def forget(self) -> None:
        """Lets go of all that may lead back here."""
        for kept in (self.names, self.members, self.values, self.found, self.elsewhere):
            kept.clear()

    @property
    def module(self) -> "Scope":
        """The scope of the file."""
        place = self
        while place.parent is not None:
            place = place.parent
        return place

    def is_import(self, name: str) -> bool:
        """Whether a name is what an import bound, and nothing else."""
        place: Scope | None = self
        while place is not None and name not in place.names:
            place = place.parent
        if place is None:
            return False
        key = f"import {name}"
        if key not in place.found:
            place.found[key] = all(each.how is How.REFERENCE for each in place.names[name])
        return bool(place.found[key])
