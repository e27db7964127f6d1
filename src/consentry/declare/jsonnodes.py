"""JSON text as nodes: RFC 8259 and nothing more, with the place of every value.

The standard library reads JSON and forgets where it was, and YAML is not quite a superset (tabs,
pairs of surrogate escapes); so this walks the text itself and leaves only single strings to the
standard library.
"""

import json
import re
from typing import NoReturn

from consentry.declare.nodes import (
    MOST_DEPTH,
    MOST_NODES,
    Items,
    Kind,
    Mapping,
    Node,
    Scalar,
    plain_scalar,
    quoted_scalar,
)
from consentry.declare.problems import Problems
from consentry.declare.source import Lines

_SPACE = re.compile(r"[ \t\r\n]*+")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_WORD = re.compile(r"(?:true|false|null)(?![A-Za-z0-9_])")
_CORRECT = "correct the line, or the one before it"


def json_nodes(text: str, problems: Problems, most: int = MOST_NODES) -> Node | None:
    """The root node of the document in `text`, of at most so many values; None when there is none."""
    walk = _Walk(text, problems, most)
    walk.skip_space()
    if walk.at == len(text):
        return None
    root = walk.value(1)
    walk.skip_space()
    if walk.at != len(text):
        walk.stop_here("something follows the end of the document")
    return root


class _Walk:
    """A position in the text that only moves on."""

    def __init__(self, text: str, problems: Problems, most: int) -> None:
        self.at = 0
        self._most = most
        self._text = text
        self._lines = Lines(text)
        self._problems = problems
        self._count = 0

    def stop_here(self, message: str) -> NoReturn:
        """Raises: what stands here is not JSON."""
        self.stop(f"this is not JSON: {message}", _CORRECT)

    def stop(self, message: str, help_line: str) -> NoReturn:
        """Raises with the place where the walk stands."""
        self._problems.stop(self._lines.mark(self.at), message, help_line)

    def skip_space(self) -> None:
        """Moves on to something."""
        space = _SPACE.match(self._text, self.at)
        self.at = space.end() if space is not None else self.at

    def value(self, depth: int) -> Node:
        """The value that begins here; the walk then stands behind it."""
        self._count += 1
        if self._count > self._most:
            self.stop(f"the document has more than {self._most:,} values", "use several documents")
        opening = self._text[self.at : self.at + 1]
        if opening == '"':
            return self._string()
        if opening not in ("{", "["):
            return self._bare()
        if depth > MOST_DEPTH:
            self.stop(f"this is nested deeper than {MOST_DEPTH}", "use fewer lists inside lists")
        return self._mapping(depth) if opening == "{" else self._items(depth)

    def _mapping(self, depth: int) -> Mapping:
        mark = self._lines.mark(self.at)
        entries: list[tuple[Node, Node]] = []
        while self._another("}", first=not entries):
            if self._text[self.at : self.at + 1] != '"':
                self.stop_here("a key in double quotes is expected")
            key = self._string()
            self._count += 1
            self.skip_space()
            self._take(":")
            self.skip_space()
            entries.append((key, self.value(depth + 1)))
        return Mapping(mark, tuple(entries))

    def _items(self, depth: int) -> Items:
        mark = self._lines.mark(self.at)
        items: list[Node] = []
        while self._another("]", first=not items):
            items.append(self.value(depth + 1))
        return Items(mark, tuple(items))

    def _another(self, end: str, *, first: bool) -> bool:
        """Whether the list or mapping goes on; steps over its brackets and commas."""
        if first:
            self.at += 1
        self.skip_space()
        if self._text[self.at : self.at + 1] == end:
            self.at += 1
            return False
        if not first:
            self._take(",", f"`,` or `{end}`")
            self.skip_space()
        return True

    def _take(self, character: str, expected: str | None = None) -> None:
        if self._text[self.at : self.at + 1] != character:
            self.stop_here(f"{expected or f'`{character}`'} is expected")
        self.at += 1

    def _string(self) -> Scalar:
        mark = self._lines.mark(self.at)
        found = _STRING.match(self._text, self.at)
        if found is None:
            self.stop_here("this text has no end")
        try:
            content = json.loads(found[0])
        except json.JSONDecodeError as wrong:
            self.at += wrong.pos
            self.stop_here("a text has a raw control character, or an escape that is none")
        self.at = found.end()
        return quoted_scalar(mark, content)

    def _bare(self) -> Scalar:
        mark = self._lines.mark(self.at)
        number = _NUMBER.match(self._text, self.at)
        found = number or _WORD.match(self._text, self.at)
        if found is None:
            self.stop_here("a value is expected")
        self.at = found.end()
        if number is not None and number[2]:
            return Scalar(mark, Kind.DECIMAL, number[0], is_plain=True)
        return plain_scalar(mark, found[0])
