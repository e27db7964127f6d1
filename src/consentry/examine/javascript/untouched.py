"""Whether an array or object that has a name still is what it was written as.

It is, when its name is only read: looked into, asked by methods that change nothing, spread, or
handed to functions that the tables know. Anything else may have changed it, and then its content
counts as computed.
"""

from typing import Final

from consentry.examine.javascript.feeding import WRAPPERS, Feeding, arguments_of, unwrapped
from consentry.examine.javascript.literals import name_of
from consentry.examine.javascript.scopes import Binding
from consentry.examine.syntaxtree import Syntax

_READING: Final = frozenset(
    [
        "join",
        "slice",
        "concat",
        "map",
        "filter",
        "forEach",
        "indexOf",
        "includes",
        "at",
        "toString",
        "some",
        "every",
        "find",
        "findIndex",
        "flat",
        "flatMap",
        "keys",
        "values",
        "entries",
        "reduce",
        "toReversed",
        "toSorted",
        "hasOwnProperty",
    ]
)
_CALLING: Final = {
    **dict.fromkeys(
        ["map", "filter", "forEach", "some", "every", "find", "findIndex", "flatMap", "toSorted"], 2
    ),
    "reduce": 3,
}
"""Methods that call a function, and from which of its parameters on it is given the array itself."""

_MEMBERS: Final = frozenset({"member_expression", "subscript_expression"})
_ONLY_READ: Final = frozenset(
    {
        "template_substitution",
        "binary_expression",
        "unary_expression",
        "spread_element",
        "for_in_statement",
        "expression_statement",
        "if_statement",
        "ternary_expression",
    }
)


class Untouched:
    """Answers for the names of one file."""

    def __init__(self, feeding: Feeding) -> None:
        self._references = feeding.references
        self._known: dict[Binding, bool] = {}

    def forget(self) -> None:
        """What was found before things changed does not count."""
        self._known.clear()

    def is_untouched(self, binding: Binding) -> bool:
        """Whether all uses of the name only read; a text or number always is."""
        if binding not in self._references:
            return True
        if binding not in self._known:
            self._known[binding] = all(map(_only_reads, self._references[binding]))
        return self._known[binding]


def _only_reads(node: Syntax) -> bool:
    method = ""
    above = node.up
    if above.kind == "variable_declarator" and node.field == "name":
        return True
    while (above.kind in _MEMBERS and node.field == "object") or above.kind in WRAPPERS:
        if above.kind in _MEMBERS:
            key = above.child("property")
            method = "" if key is None else name_of(key)
        node, above = above, above.up
    if above.kind == "call_expression" and node.field == "function":
        return method in _READING and (method not in _CALLING or _keeps(above, method))
    if above.kind == "unary_expression":
        operator = above.child("operator")
        return operator is None or operator.kind != "delete"
    if above.kind == "arguments" and not method:
        callee = above.up.child("function") or above.up.child("constructor")
        return callee is not None and bool(unwrapped(callee).things)
    if above.kind in _ONLY_READ:
        return above.kind != "for_in_statement" or node.field != "left"
    is_value = node.kind in _MEMBERS
    if above.kind in ("assignment_expression", "augmented_assignment_expression"):
        return is_value and node.field == "right"
    return is_value and above.kind != "update_expression" and "pattern" not in above.kind


def _keeps(call: Syntax, method: str) -> bool:
    """Whether the function that a method calls does not get at the array."""
    for node in arguments_of(call)[:1]:
        inner = unwrapped(node)
        if inner.things:
            continue
        taken = inner.child("parameters")
        is_one = inner.child("parameter") is not None
        names = [] if taken is None else taken.children
        if not is_one and (taken is None or len(names) > _CALLING[method]):
            return False
        has_rest = any(
            name.kind == "rest_pattern" or name.first("rest_pattern") is not None for name in names
        )
        if has_rest or b"arguments" in inner.source[inner.start : inner.end]:
            return False
    return True
