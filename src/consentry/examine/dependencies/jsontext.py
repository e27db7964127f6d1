"""JSON as nodes that know their line, for files that other programs write: lock files are large.

The reader of our own documents stops at a size that no person writes; this one takes what package
managers write, keeps every one of two values with the same key, and does not recurse. With `relaxed`,
comments and a comma before a closing bracket are taken, as editors take them.
"""

import json
import re
from typing import Final

from consentry.base.values import dataclass, field
from consentry.declare.nodes import (
    Items,
    Mapping,
    Mark,
    Node,
    Scalar,
    plain_scalar,
    quoted_scalar,
)

MOST_DEPTH: Final = 200
MOST_NODES: Final = 1_000_000

_TOKEN: Final = re.compile(
    r'[ \t\r\n]++|"(?:[^"\\\n]|\\.)*+"|[{}\[\]:,]|-?[0-9][0-9.eE+-]*+|true|false|null'
    r"|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/"
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end was not met yet; of a mapping, keys and values in turn."""

    is_mapping: bool
    mark: Mark
    nodes: list[Node] = field(default_factory=list)
    needs: str = "first"
    """What may come: `first` value or end, `next` value, `:`, the value `after` it, or a `,`."""

    def closed(self) -> Node:
        if not self.is_mapping:
            return Items(self.mark, tuple(self.nodes))
        keys, values = self.nodes[::2], self.nodes[1::2]
        return Mapping(self.mark, tuple(zip(keys, values, strict=True)))


def json_document(text: str, *, relaxed: bool = False) -> Node:
    """The root node; raises `ValueError` for what is not JSON, too deep or too large."""
    walk = _Walk(relaxed=relaxed)
    at, line, count = 0, 1, 0
    mark = Mark(1, 1)
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"line {line} is not JSON")
        piece = found[0]
        at = found.end()
        if piece[0] not in " \t\r\n/":
            count += 1
            if count > MOST_NODES:
                raise ValueError(f"it has more than {MOST_NODES:,} values")
            walk.take(piece, mark)
        elif piece[0] == "/" and not relaxed:
            raise ValueError(f"line {line} has a comment, which is not JSON")
        newlines = piece.count("\n")
        if newlines:
            line += newlines
            mark = Mark(line, 1)
    return walk.root()


class _Walk:
    """What is open, innermost last; the outermost stands for the document."""

    def __init__(self, *, relaxed: bool) -> None:
        self._relaxed = relaxed
        self._open = [_Open(is_mapping=False, mark=Mark(1, 1), needs="next")]

    def root(self) -> Node:
        """The one value of the document."""
        if len(self._open) != 1 or len(self._open[0].nodes) != 1:
            raise ValueError("the JSON has no end")
        return self._open[0].nodes[0]

    def take(self, piece: str, mark: Mark) -> None:
        """One piece of the text that means something."""
        inner = self._open[-1]
        if piece in "{[":
            self._expect_value(inner, mark)
            if inner.is_mapping and inner.needs != "after":
                raise ValueError(f"line {mark.line}: a key is expected")
            if len(self._open) > MOST_DEPTH:
                raise ValueError(f"line {mark.line} is nested deeper than {MOST_DEPTH}")
            self._open.append(_Open(piece == "{", mark))
        elif piece in "}]":
            self._close(piece, inner, mark)
        elif piece == ":":
            self._expect(inner, ":", mark)
            inner.needs = "after"
        elif piece == ",":
            self._expect(inner, ",", mark)
            inner.needs = "next"
        else:
            self._expect_value(inner, mark)
            self._add(inner, _scalar(piece, mark), mark)

    def _close(self, piece: str, inner: _Open, mark: Mark) -> None:
        may_end = inner.needs in ("first", ",") or (self._relaxed and inner.needs == "next")
        if len(self._open) == 1 or not may_end or (piece == "}") != inner.is_mapping:
            raise ValueError(f"line {mark.line}: `{piece}` closes nothing")
        self._open.pop()
        self._add(self._open[-1], inner.closed(), mark)

    def _add(self, inner: _Open, node: Node, mark: Mark) -> None:
        is_key = inner.is_mapping and inner.needs != "after"
        if is_key and (not isinstance(node, Scalar) or node.is_plain):
            raise ValueError(f"line {mark.line}: a key is expected")
        inner.nodes.append(node)
        inner.needs = ":" if is_key else ","
        if len(self._open) == 1:
            inner.needs = "nothing"

    @staticmethod
    def _expect_value(inner: _Open, mark: Mark) -> None:
        if inner.needs not in ("first", "next", "after"):
            raise ValueError(f"line {mark.line}: no value is expected there")

    @staticmethod
    def _expect(inner: _Open, needed: str, mark: Mark) -> None:
        if inner.needs != needed:
            raise ValueError(f"line {mark.line}: `{needed}` is not expected there")


def _scalar(piece: str, mark: Mark) -> Scalar:
    if piece[0] != '"':
        return plain_scalar(mark, piece)
    if "\\" not in piece:
        if min(piece) < " ":
            raise ValueError(f"line {mark.line}: a text has a control character")
        return quoted_scalar(mark, piece[1:-1])
    content: str = json.loads(piece)
    if _SURROGATE.search(content):
        raise ValueError(f"line {mark.line}: a text has half of a pair of surrogates")
    return quoted_scalar(mark, content)
