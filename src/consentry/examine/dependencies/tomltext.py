"""TOML as nodes, with lines that are found by looking for what was read.

The standard library reads TOML and forgets where it was. Keys and texts are looked for again in the
order of the document, which is right for what programs and most people write; a line that is not
found so is the one of the thing around it.
"""

import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from consentry.declare.nodes import (
    Items,
    Kind,
    Mapping,
    Mark,
    Node,
    Scalar,
    quoted_scalar,
)
from consentry.declare.source import Lines

MOST_CHARACTERS: Final = 8 << 20
MOST_DEPTH: Final = 60
MOST_PARTS: Final = 100
_MOST_MISSES: Final = 200

_QUOTED: Final = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"?|'[^'\n]*+'?")
_NOT_OF_KEYS: Final = re.compile(r"[^\w. \t-]")


def toml_document(text: str) -> Mapping:
    """The root table; raises `ValueError` for what is not TOML, too deep or too large."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"it has more than {MOST_CHARACTERS:,} characters")
    _check_keys(text)
    return _Placed(text).table(tomllib.loads(text))


def _check_keys(text: str) -> None:
    """Keys of very many parts take the standard library a time that grows with their square."""
    for line in text.split("\n"):
        if line.count(".") > MOST_PARTS:
            bare = _QUOTED.sub("q", line)
            if any(part.count(".") > MOST_PARTS for part in _NOT_OF_KEYS.split(bare)):
                raise ValueError(f"a key has more than {MOST_PARTS} parts")


class _Placed:
    """Values with the places where the text seems to have them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = Lines(text)
        self._at = 0
        self._misses = 0

    def table(self, root: dict[str, Any]) -> Mapping:
        """Iterates: a list of open tables and lists, innermost last."""
        first = _Level(iter(root.items()), Mark(1, 1), is_table=True)
        levels = [first]
        while True:
            level = levels[-1]
            given = next(level.rest, None)
            if given is None:
                levels.pop()
                closed = level.closed()
                if not levels:
                    return closed if isinstance(closed, Mapping) else Mapping(Mark(1, 1), ())
                levels[-1].nodes.append(closed)
                continue
            key, value = given
            mark = level.mark
            if level.is_table:
                mark = self._place(key, level.mark)
                level.nodes.append(quoted_scalar(mark, key))
            if isinstance(value, dict | list):
                if len(levels) > MOST_DEPTH:
                    raise ValueError(f"it is nested deeper than {MOST_DEPTH}")
                pairs = value.items() if isinstance(value, dict) else ((None, it) for it in value)
                levels.append(_Level(iter(pairs), mark, is_table=isinstance(value, dict)))
            else:
                level.nodes.append(self._scalar(value, mark))

    def _scalar(self, value: object, mark: Mark) -> Scalar:
        if isinstance(value, str):
            sought = value if "\n" not in value else value.partition("\n")[0]
            return quoted_scalar(self._place(sought, mark), value)
        if isinstance(value, bool):
            return Scalar(mark, Kind.FLAG, str(value).lower(), is_plain=True)
        kind = Kind.WHOLE if isinstance(value, int) else Kind.TEXT
        return Scalar(mark, kind, str(value), is_plain=True)

    def _place(self, sought: str, around: Mark) -> Mark:
        if not sought or self._misses > _MOST_MISSES:
            return around
        at = self._text.find(sought, self._at)
        if at < 0:
            self._misses += 1
            at = self._text.find(sought)
            return around if at < 0 else Mark(self._lines.mark(at).line, 1)
        self._at = at
        return Mark(self._lines.mark(at).line, 1)


class _Level:
    """One table or list on the way down."""

    def __init__(self, rest: Iterator[tuple[Any, Any]], mark: Mark, *, is_table: bool) -> None:
        self.rest, self.is_table, self.mark = rest, is_table, mark
        self.nodes: list[Node] = []

    def closed(self) -> Node:
        if not self.is_table:
            return Items(self.mark, tuple(self.nodes))
        pairs = zip(self.nodes[::2], self.nodes[1::2], strict=True)
        return Mapping(self.mark, tuple(pairs))
