"""Where a value goes: whether the place uses it, only looks at it, gives it a name, or hands it on.

A thing that is handed on where it is not followed may be used in any way there.
"""

from enum import StrEnum
from typing import Final

from consentry.examine.javascript.feeding import WRAPPERS, Feeding, unwrapped
from consentry.examine.javascript.flow import things_of
from consentry.examine.javascript.literals import name_of
from consentry.examine.javascript.tables import row_named
from consentry.examine.javascript.values import Thing
from consentry.examine.syntaxtree import Syntax


class Context(StrEnum):
    """What happens to a value at its place."""

    USED = "used"
    """A member of it is taken, or it is called: that place speaks for itself."""

    LOOKED_AT = "looked at"
    NAMED = "named"
    HANDED_ON = "handed on"


_LOOKING: Final = frozenset({"typeof", "!", "void", "delete"})
_PASSING: Final = frozenset({"||", "&&", "??"})
_TESTS: Final = frozenset(
    {"if_statement", "while_statement", "do_statement", "expression_statement", "for_statement"}
)
_NAMES: Final = frozenset({"name", "left", "alias", "pattern", "parameter", "label"})
"""What stands there gets a value, and is not one."""

_DECLARING: Final = frozenset(
    {
        "pair_pattern",
        "array_pattern",
        "object_pattern",
        "rest_pattern",
        "formal_parameters",
        "import_clause",
        "import_specifier",
        "namespace_import",
        "import_require_clause",
        "jsx_opening_element",
        "jsx_closing_element",
        "jsx_self_closing_element",
    }
)
_PASSED_THROUGH: Final = frozenset(
    {
        Thing("util", "promisify"),
        Thing("globalThis", "Proxy"),
        Thing("globalThis", "Promise.resolve"),
        Thing("globalThis", "Object.freeze"),
        Thing("globalThis", "Reflect.get"),
        Thing("globalThis", "Reflect.apply"),
        Thing("globalThis", "Reflect.construct"),
    }
)
"""Their first argument comes out again, or is called: the call speaks for it."""


class Contexts:
    """Answers for the expressions of one file."""

    def __init__(self, feeding: Feeding) -> None:
        self._feeding = feeding
        self._known: dict[Syntax, Context] = {}

    def of(self, node: Syntax) -> Context:
        """What happens to the value of the expression."""
        passed = [node]
        while True:
            found = self._known.get(node) or self._step(node)
            if isinstance(found, Context):
                break
            node = found
            passed.append(node)
        for each in passed:
            self._known[each] = found
        return found

    def _step(self, node: Syntax) -> Context | Syntax:
        """What happens to it, or the expression around it that has its value."""
        above = node.up
        if node in self._feeding.taken:
            return Context.NAMED
        if above.kind in WRAPPERS and above is not node:
            is_tested = above.kind == "parenthesized_expression" and above.field == "condition"
            return Context.LOOKED_AT if is_tested else above
        if above.kind in ("ternary_expression", "binary_expression", "sequence_expression"):
            return _chosen(node, above) or above
        if above.kind == "arguments":
            return _argument(node, above) or above.up
        if above.kind == "assignment_expression" and node.field == "right":
            return _assigned(above)
        return _plain(node, above, node.field)


def _plain(node: Syntax, above: Syntax, field: str) -> Context:  # noqa: PLR0911 - one for each kind
    match above.kind:
        case "member_expression" | "subscript_expression" | "nested_identifier" if (
            field == "object"
        ):
            return Context.USED
        case "call_expression" | "new_expression" if field in ("function", "constructor"):
            return Context.USED
        case "unary_expression":
            operator = above.child("operator")
            is_looked_at = operator is not None and operator.kind in _LOOKING
            return Context.LOOKED_AT if is_looked_at else Context.HANDED_ON
        case "variable_declarator" if field == "value":
            is_exported = above.up.up.kind == "export_statement"
            return Context.HANDED_ON if is_exported else Context.NAMED
        case "assignment_pattern" | "object_assignment_pattern" | "required_parameter":
            return Context.NAMED
        case "augmented_assignment_expression" if field == "right":
            return Context.NAMED
        case "import_alias":
            return Context.NAMED
        case "export_specifier":
            is_own = above.up.up.child("source") is None and field == "name"
            return Context.HANDED_ON if is_own else Context.LOOKED_AT
    if field in _NAMES or above.kind in _TESTS or above.kind in _DECLARING or above is node:
        return Context.LOOKED_AT
    return Context.HANDED_ON


def _chosen(node: Syntax, above: Syntax) -> Context | None:
    """None where the value is passed on as that of the whole expression."""
    if above.kind == "ternary_expression":
        return Context.LOOKED_AT if node.field == "condition" else None
    if above.kind == "sequence_expression":
        return None if above.children[-1] is node else Context.LOOKED_AT
    operator = above.child("operator")
    if operator is None or operator.kind not in _PASSING:
        return Context.LOOKED_AT
    if operator.kind == "&&" and node.field == "left":
        return Context.LOOKED_AT
    return None


def _assigned(assignment: Syntax) -> Context:
    left = assignment.child("left")
    is_name = left is not None and left.kind in ("identifier", "object_pattern", "array_pattern")
    return Context.NAMED if is_name else Context.HANDED_ON


def _argument(node: Syntax, given: Syntax) -> Context | None:
    """None where the function passes it through."""
    call = given.up
    callee = call.child("function") or call.child("constructor")
    if callee is None:
        return Context.HANDED_ON
    inner = unwrapped(callee)
    for thing in things_of(inner):
        if thing in _PASSED_THROUGH and given.children[0] is node:
            return Context.USED if thing.member.startswith("Reflect.") else None
        if thing.member in row_named(thing.row).keeps:
            return Context.LOOKED_AT
    if inner.kind == "member_expression":
        owner, key = inner.child("object"), inner.child("property")
        if owner is not None and key is not None and name_of(key) in ("call", "apply"):
            for thing in things_of(owner):
                if thing.member in row_named(thing.row).keeps:
                    return Context.LOOKED_AT
    return Context.HANDED_ON
