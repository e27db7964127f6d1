"""What an expression may be, as far as reading tells: a module, a member, a constant, a thing of ours.

None stands for all that is not known. A value says what could be there, never that it is: names are
resolved without regard to the order of statements, and a name bound twice is `Either`.
"""

from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import ast

    from consentry.examine.python.scopes import Scope


class Ref:
    """A module or a member of one, by its dotted name; a leading dot means the same tree."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Instance:
    """An object of a class that the tables know, and the path it was made with."""

    __slots__ = ("name", "path")

    def __init__(self, name: str, path: "Value" = None) -> None:
        self.name = name
        self.path = path


class Method:
    """A method of such an object."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Instance, name: str) -> None:
        self.owner = owner
        self.name = name


class Const:
    """A constant: text, bytes, a number, True, False or None."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


class Partial:
    """A text of which only the beginning is known."""

    __slots__ = ("prefix",)

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix


class ConstMethod:
    """A method of a constant, such as `"".join`, or of what is written out."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: "Const | Items | Table | Namespace", name: str) -> None:
        self.owner = owner
        self.name = name


class Items:
    """A list, tuple or set that is written out; a set has no order, and what is in it twice once."""

    __slots__ = ("is_ordered", "is_plain", "nodes", "scope")

    def __init__(self, nodes: "list[ast.expr]", scope: "Scope", *, is_ordered: bool = True) -> None:
        self.nodes = nodes
        self.scope = scope
        self.is_ordered = is_ordered
        self.is_plain: bool | None = None
        """Whether each stands for itself; None where nobody asked."""


class Table:
    """A dictionary that is written out; `by_key` has its values where every key is a constant."""

    __slots__ = ("by_key", "node", "scope")

    def __init__(
        self,
        node: "ast.Dict",
        scope: "Scope",
        by_key: "dict[object, list[ast.expr]] | None" = None,
    ) -> None:
        self.node = node
        self.scope = scope
        self.by_key = by_key


class Namespace:
    """The names of a module as a dictionary; without an owner those of the file itself."""

    __slots__ = ("owner",)

    def __init__(self, owner: "Value") -> None:
        self.owner = owner


class Getter:
    """What `operator.attrgetter` and `operator.methodcaller` make."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Function:
    """A function of this file."""

    __slots__ = ("scope",)

    def __init__(self, scope: "Scope") -> None:
        self.scope = scope


class LocalClass:
    """A class of this file."""

    __slots__ = ("scope",)

    def __init__(self, scope: "Scope") -> None:
        self.scope = scope


class LocalObject:
    """An object of such a class, `self` among them."""

    __slots__ = ("scope",)

    def __init__(self, scope: "Scope") -> None:
        self.scope = scope


class Either:
    """One of several values; None among them where one is not known."""

    __slots__ = ("values",)

    def __init__(self, values: "tuple[Value, ...]") -> None:
        self.values = values


Value: TypeAlias = (
    Ref
    | Instance
    | Method
    | Const
    | Partial
    | ConstMethod
    | Items
    | Table
    | Namespace
    | Getter
    | Function
    | LocalClass
    | LocalObject
    | Either
    | None
)


def alternatives(value: Value) -> "tuple[Value, ...]":
    """The values that it may be, one by one."""
    return value.values if isinstance(value, Either) else (value,)


class TooMuch(Exception):
    """More than can be worked out: what is left must not be taken for nothing."""


def either(values: "list[Value]") -> Value:
    """One value of several; flat, and the only one where there is but one."""
    if len(values) == 1:
        return values[0]
    flat: list[Value] = []
    for value in values:
        flat += alternatives(value)
    if all(value is None for value in flat):
        return None
    return Either(tuple(flat if len(flat) <= MOST_ALTERNATIVES else _fewer(flat)))


def _fewer(values: "list[Value]") -> "list[Value]":
    """What has a power is never left out; what is left out is not forgotten: it may be anything."""
    members = {value.name: value for value in values if isinstance(value, Ref)}
    others = [value for value in values if isinstance(value, _WITH_POWER)]
    if len(members) + len(others) > MOST_POWERFUL:
        raise TooMuch
    plain = [value for value in values if not isinstance(value, (Ref, *_WITH_POWER))]
    return [*members.values(), *others, *plain[:MOST_ALTERNATIVES], None]


MOST_ALTERNATIVES: Final = 64
MOST_POWERFUL: Final = 1024
_WITH_POWER: Final = (Instance, Method, Namespace, Getter)
