"""What a document consists of before anyone says what it should be: nodes that know their place.

YAML and JSON become the same nodes. How a scalar that is not in quotes is typed is decided here,
once, and by less than YAML's own rules:

    true  false           a flag
    null  ~  (nothing)    nothing
    0  60  -7             a whole number
    0.5  -1.25            a decimal number
    anything else         text

So `no`, `on`, `1e3`, `0o17`, `1_000`, `12:30`, `2024-12-13` and `1.0.0` are text, as they look.
"""

import re
from enum import StrEnum
from typing import TypeAlias

from consentry.base.canonical import Json
from consentry.base.values import dataclass

MOST_DEPTH = 64
MOST_NODES = 20_000


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A place in the text; both numbers begin at 1, columns count characters."""

    line: int
    column: int


class Kind(StrEnum):
    """What a scalar is; the values are the words that messages use."""

    TEXT = "text"
    FLAG = "true or false"
    WHOLE = "a whole number"
    DECIMAL = "a decimal number"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value; `text` is its content, or as it is written where it is not in quotes."""

    mark: Mark
    kind: Kind
    text: str
    is_plain: bool


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    mark: Mark
    items: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values in the order they are written; a key may be wrong or there twice."""

    mark: Mark
    entries: "tuple[tuple[Node, Node], ...]"


@dataclass(frozen=True, slots=True)
class Broken:
    """Something that no document may contain, and what to write instead."""

    mark: Mark
    message: str
    help_line: str


Node: TypeAlias = Scalar | Items | Mapping | Broken

_WORDS = {
    "true": Kind.FLAG,
    "false": Kind.FLAG,
    "null": Kind.NOTHING,
    "~": Kind.NOTHING,
    "": Kind.NOTHING,
}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?", re.ASCII)


def plain_scalar(mark: Mark, text: str) -> Scalar:
    """A scalar that is not in quotes, typed by the table above."""
    kind = _WORDS.get(text)
    if kind is None:
        number = _NUMBER.fullmatch(text)
        kind = Kind.TEXT
        if number is not None:
            kind = Kind.WHOLE if number[1] is None else Kind.DECIMAL
    return Scalar(mark, kind, text, is_plain=True)


def quoted_scalar(mark: Mark, text: str) -> Scalar:
    """A scalar in quotes, or a block of lines: always text."""
    return Scalar(mark, Kind.TEXT, text, is_plain=False)


def json_of(node: Node) -> Json:
    """The values alone, without places, of a document that nothing is wrong with."""
    match node:
        case Items(items=items):
            return [json_of(item) for item in items]
        case Mapping(entries=entries):
            return {key.text: json_of(item) for key, item in entries if isinstance(key, Scalar)}
        case Scalar(kind=Kind.TEXT):
            return node.text
        case Scalar(kind=Kind.FLAG):
            return node.text == "true"
        case Scalar(kind=Kind.WHOLE):
            return int(node.text)
        case Scalar(kind=Kind.DECIMAL):
            return float(node.text)
        case Scalar(kind=Kind.NOTHING):
            return None
    raise ValueError(f"line {node.mark.line} was refused and has no value")


def described(node: Node) -> str:
    """What a node is, in words, for saying that it should be something else."""
    match node:
        case Scalar(kind=Kind.NOTHING):
            return "there is no value"
        case Scalar(kind=Kind.TEXT, is_plain=False):
            return f"`{clipped(node.text)}` in quotes is text"
        case Scalar():
            return f"`{clipped(node.text)}` is {node.kind}"
        case Items():
            return "this is a list"
        case Mapping():
            return "this is a mapping"
    return node.message


_MOST_SHOWN = 80


def clipped(text: str, most: int = _MOST_SHOWN) -> str:
    """As much of a text as fits into a message."""
    return text if len(text) <= most else f"{text[:most]}…"
