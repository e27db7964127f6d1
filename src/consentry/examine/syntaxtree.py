"""Syntax trees in a form that can be walked without recursion, from the grammars that come as parsers.

The parser's own nodes find their parent by a search from the root, and are made anew at each look;
a file nested a hundred thousand deep would take hours. Here every node is made once, knows its
parent, and stands in a list in which children come before their parents.

Keeps named nodes, tokens that have a name in their parent (operators), and the tokens asked for.
Promises nothing about a file that is not of the language: `problem_line` says where that began.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from consentry.base.values import dataclass

if TYPE_CHECKING:
    from tree_sitter import TreeCursor

MOST_BYTES: Final = 4 * 1024 * 1024
"""A larger file is not read."""

MOST_NODES: Final = 1_500_000
"""A file with more nodes is not read; a file of ordinary code of the largest size has fewer."""


class Syntax:
    """One node of a tree. `things` and `scope` belong to whoever walks it."""

    __slots__ = ("children", "end", "field", "kind", "parent", "scope", "source", "start", "things")

    def __init__(self, kind: str, field: str, start: int, end: int, source: bytes) -> None:
        self.kind = kind
        self.field = field
        self.start = start
        self.end = end
        self.source = source
        self.parent: Syntax | None = None
        self.children: list[Syntax] = []
        self.scope: Any = None
        self.things: Any = None

    @property
    def text(self) -> str:
        """The source of the node; bytes that are not UTF-8 become question marks."""
        return self.source[self.start : self.end].decode("utf-8", "replace")

    def child(self, field: str) -> "Syntax | None":
        """The first child of that name."""
        for child in self.children:
            if child.field == field:
                return child
        return None

    def fields(self, field: str) -> "Iterator[Syntax]":
        """All children of that name."""
        return (child for child in self.children if child.field == field)

    def first(self, *kinds: str) -> "Syntax | None":
        """The first child of one of these kinds."""
        for child in self.children:
            if child.kind in kinds:
                return child
        return None

    @property
    def up(self) -> "Syntax":
        """The parent; of the root, the root."""
        return self if self.parent is None else self.parent


@dataclass(frozen=True, slots=True)
class Shape:
    """What of the parser's tree is kept: more tokens by their kind, and no branch of some kinds."""

    tokens: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    suspect: frozenset[str] = frozenset()
    """Kinds that count as a problem: what is in them is read otherwise by other readers."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A whole file."""

    root: Syntax
    upwards: tuple[Syntax, ...]
    """Every node, children before parents, in the order of the source."""

    problem_line: int | None
    line_starts: tuple[int, ...]

    def line(self, node: Syntax) -> int:
        """The line that the node begins on, counted from one."""
        return bisect_right(self.line_starts, node.start)


def read_tree(content: bytes, language: Callable[[], object], shape: Shape) -> Tree | None:
    """The tree; None when it would be larger than is read."""
    # Nothing but the examination of such files loads a parser.
    from tree_sitter import Language, Parser  # noqa: PLC0415

    if len(content) > MOST_BYTES:
        return None
    cursor = Parser(Language(language())).parse(content).walk()
    return _Reading(content, shape).read(cursor)


class _Reading:
    def __init__(self, content: bytes, shape: Shape) -> None:
        self._content = content
        self._shape = shape
        self._upwards: list[Syntax] = []
        self._problem: int | None = None

    def read(self, cursor: "TreeCursor") -> Tree | None:
        first = cursor.node
        if first is None:
            return None
        has_problem = first.has_error
        root = Syntax(first.type, "", first.start_byte, first.end_byte, self._content)
        above = [root]
        down = cursor.goto_first_child()
        while above:
            if down:
                node = self._node(cursor, has_problem=has_problem)
                if node is not None:
                    node.parent = above[-1]
                    above[-1].children.append(node)
                    if cursor.goto_first_child():
                        above.append(node)
                        continue
                    self._upwards.append(node)
                    if len(self._upwards) > MOST_NODES:
                        return None
                down = cursor.goto_next_sibling()
                continue
            self._upwards.append(above.pop())
            cursor.goto_parent()
            down = bool(above) and cursor.goto_next_sibling()
        if has_problem and self._problem is None:
            self._problem = root.start  # it lies in a branch that was not kept
        starts = (0, *_line_starts(self._content))
        line = None if self._problem is None else bisect_right(starts, self._problem)
        return Tree(root, tuple(self._upwards), line, starts)

    def _node(self, cursor: "TreeCursor", *, has_problem: bool) -> Syntax | None:
        node = cursor.node
        if node is None:
            return None
        kind = node.type
        shape = self._shape
        is_problem = has_problem and (kind == "ERROR" or node.is_missing)
        if (is_problem or kind in shape.suspect) and self._problem is None:
            self._problem = node.start_byte
        if kind in shape.dropped:
            return None
        field = cursor.field_name or ""
        if not (node.is_named or field or kind in shape.tokens):
            return None
        return Syntax(kind, field, node.start_byte, node.end_byte, self._content)


def _line_starts(content: bytes) -> Iterator[int]:
    at = content.find(b"\n")
    while at >= 0:
        yield at + 1
        at = content.find(b"\n", at + 1)
