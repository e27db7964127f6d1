"""What no document may contain, whatever kind of document it is, found in one pass over its nodes."""

import re
from typing import TypeGuard

from consentry.declare.nodes import (
    Broken,
    Items,
    Kind,
    Mapping,
    Mark,
    Node,
    Scalar,
    clipped,
    described,
)
from consentry.declare.problems import Problems

_MERGE = "<<"
_PLAIN_KEY = re.compile(r"[\w${}-]{1,80}")
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")


def check_nodes(node: Node, path: str, problems: Problems) -> None:
    """Notes everything that no document may contain, whatever kind of document it is."""
    match node:
        case Broken():
            problems.add(node.mark, path, node.message, node.help_line)
        case Scalar():
            _check_characters(node, path, problems)
        case Items(items=items):
            for index, item in enumerate(items):
                check_nodes(item, f"{path}[{index}]", problems)
        case Mapping(entries=entries):
            first: dict[str, Mark] = {}
            for key, item in entries:
                _check_key(key, path, first, problems)
                inner = joined_path(path, key.text) if isinstance(key, Scalar) else path
                check_nodes(item, inner, problems)


def _check_key(key: Node, path: str, first: dict[str, Mark], problems: Problems) -> None:
    if isinstance(key, Broken):
        problems.add(key.mark, path, key.message, key.help_line)
    elif _is_merge(key):
        problems.add(key.mark, path, "`<<` merges, which is not taken", "write the keys out")
    elif not is_key(key):
        help_line = "put it in quotes" if isinstance(key, Scalar) else "write a text as the key"
        problems.add(key.mark, path, f"{described(key)}, and a key is text", help_line)
    else:
        name = joined_path(path, key.text)
        _check_characters(key, name, problems)
        if first.setdefault(key.text, key.mark) is not key.mark:
            message = f"`{clipped(key.text)}` is already in line {first[key.text].line}"
            problems.add(key.mark, name, message, "keep one of the two")


def is_key(node: Node) -> TypeGuard[Scalar]:
    """Whether a node may stand as a key."""
    if not isinstance(node, Scalar) or node.kind is not Kind.TEXT:
        return False
    return not _is_merge(node)


def _is_merge(node: Node) -> bool:
    return isinstance(node, Scalar) and node.text == _MERGE and node.is_plain


def is_possible(text: str) -> bool:
    """Whether it has only characters that a text can have: no NUL, no half of a surrogate pair."""
    return _NO_CHARACTER.search(text) is None


def _check_characters(scalar: Scalar, path: str, problems: Problems) -> None:
    found = _NO_CHARACTER.search(scalar.text)
    if found is not None:
        what = "NUL" if found[0] == "\0" else f"half of a surrogate pair, U+{ord(found[0]):04X}"
        problems.add(scalar.mark, path, f"the text contains {what}", "remove the escape")


def joined_path(path: str, key: str) -> str:
    """`path.key`, with a key that is no plain word in quotes."""
    name = key if _PLAIN_KEY.fullmatch(key) else f'"{clipped(key)}"'
    return f"{path}.{name}" if path else name
