"""What an expression may be, as far as powers are concerned: things of the tables, and constants.

A thing is an object that a table knows: a module, a global, a member of either, or what one of them
returns. A constant is a plain Python value: text, a number, True, False, None for `null`, bytes for
a buffer, a tuple for an array. `Partial` is a text of which the beginning is known; `UNKNOWN` is
everything else.
"""

from enum import Enum
from typing import Final, NamedTuple, TypeAlias, Union


class Thing(NamedTuple):
    """A row of the tables and a dotted name below it; an instance is what calling it gave."""

    row: str
    member: str = ""
    is_instance: bool = False


class Partial:
    """A text that begins like this."""

    __match_args__ = ("prefix",)
    __slots__ = ("prefix",)

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix


class Unknown(Enum):
    """The value that is not known."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN

Value: TypeAlias = Union[str, int, float, bytes, Partial, Unknown, "tuple[Value, ...]", None]

Things: TypeAlias = frozenset[Thing]
NO_THINGS: Final[Things] = frozenset()

MOST_TEXT: Final = 64 * 1024
"""A constant that grows beyond this counts as computed."""


def shown(value: Value) -> str | None:
    """The constant as JavaScript would turn it into text; None for what is computed."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(value) if abs(value) < 10**15 else None
        case float():
            is_whole = value.is_integer() and abs(value) < 10**15
            return str(int(value)) if is_whole else None
        case None:
            return "null"
        case tuple():
            parts = ["" if each is None else shown(each) for each in value]
            return None if None in parts else ",".join(str(part) for part in parts)
    return None


def added(parts: list[Value]) -> Value:
    """The texts one after the other."""
    texts: list[str] = []
    length = 0
    for part in parts:
        if isinstance(part, Partial):
            return Partial("".join(texts) + part.prefix)
        text = shown(part)
        if text is None:
            return Partial("".join(texts)) if any(texts) else UNKNOWN
        texts.append(text)
        length += len(text)
        if length > MOST_TEXT:
            return UNKNOWN
    return "".join(texts)
