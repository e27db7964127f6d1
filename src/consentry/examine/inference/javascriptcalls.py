"""The calls of JavaScript and TypeScript, and which names are declared where they stand."""

from collections.abc import Iterator
from typing import Final

from consentry.examine.inference.toolcalls import AN_ITEM, Called
from consentry.examine.javascript.scopes import Scopes
from consentry.examine.syntaxtree import Syntax, Tree

_CALLS: Final = {"call_expression": "function", "new_expression": "constructor"}
_WRAPPED: Final = frozenset(
    {"parenthesized_expression", "non_null_expression", "as_expression", "satisfies_expression"}
)
_MOST_PATH: Final = 16


def calls_of_javascript(tree: Tree) -> Iterator[Called]:
    """Each call whose function is a name or begins with one."""
    Scopes(tree)  # every node of the tree knows its scope afterwards
    for node in tree.upwards:
        field = _CALLS.get(node.kind)
        called = None if field is None else node.child(field)
        if called is not None:
            yield from _called(called)


def _called(node: Syntax | None) -> Iterator[Called]:
    members: list[str] = []
    while node is not None and node.kind != "identifier":
        if node.kind == "member_expression":
            name = node.child("property")
            members.append(AN_ITEM if name is None else name.text)
            node = node.child("object")
        elif node.kind == "subscript_expression":
            members.append(AN_ITEM)
            node = node.child("object")
        elif node.kind in _WRAPPED:
            node = node.children[0] if node.children else None
        else:
            return
    if node is not None:
        is_bound = node.scope.lookup(node.text) is not None
        yield Called((node.text, *reversed(members[:_MOST_PATH])), is_bound)
