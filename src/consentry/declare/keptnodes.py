"""The nodes of a document as JSON, to be kept beside it and built from again.

    [line, column, kind, text, is_plain]     a scalar; `kind` counts the members of `Kind`
    [line, column, [node, ...]]              a list
    [line, column, [[key, node], ...], 0]    a mapping

A document with something in it that no document may contain has no such form and is parsed anew each
time. Reading is strict, and whatever does not have this shape is no kept document; what is built from
it is checked like any other.
"""

from typing import Final, cast

from consentry.base.canonical import Json
from consentry.declare.nodes import Broken, Items, Kind, Mapping, Mark, Node, Scalar

FORM: Final = 1
"""Counts up when nodes are kept in another shape."""

_KINDS: Final = tuple(Kind)
_OF_LIST, _OF_MAPPING, _OF_SCALAR = 3, 4, 5


def nodes_to_json(node: Node) -> Json:
    """The JSON of a node; raises `ValueError` where something in it is broken."""
    mark = node.mark
    match node:
        case Scalar():
            kind = _KINDS.index(node.kind)
            return [mark.line, mark.column, kind, node.text, int(node.is_plain)]
        case Items():
            return [mark.line, mark.column, [nodes_to_json(item) for item in node.items]]
        case Mapping():
            pairs = [[nodes_to_json(key), nodes_to_json(item)] for key, item in node.entries]
            return [mark.line, mark.column, pairs, 0]
        case Broken():
            raise ValueError(f"line {mark.line} is broken")


def nodes_from_json(kept: Json) -> Node:
    """The node that was kept; raises `ValueError`, `TypeError` or `LookupError` where it is none."""
    parts = cast("list[Json]", kept)
    line, column = _whole(parts[0]), _whole(parts[1])
    mark = Mark(line, column)
    if len(parts) == _OF_SCALAR:
        text = parts[3]
        if not isinstance(text, str):
            raise TypeError("the text of a scalar is none")
        return Scalar(mark, _KINDS[_whole(parts[2])], text, is_plain=_whole(parts[4]) == 1)
    inner = parts[2]
    if not isinstance(inner, list):
        raise TypeError("what stands in a list or mapping is no list")
    if len(parts) == _OF_LIST:
        return Items(mark, tuple(map(nodes_from_json, inner)))
    if len(parts) != _OF_MAPPING:
        raise ValueError("this is no node")
    return Mapping(
        mark, tuple((nodes_from_json(key), nodes_from_json(item)) for key, item in inner)
    )


def _whole(value: Json) -> int:
    if type(value) is not int or value < 0:
        raise TypeError("a number of a node is none")
    return value
