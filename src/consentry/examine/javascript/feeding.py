"""What flows into what: for each expression, the names, properties and results that it may become.

Properties are told apart by their name alone, whatever the object: `this.fs = fs` makes every `.fs`
of an object that nothing is known about a candidate. Arguments flow into the parameters of functions
of the same file that are called by name, at once where they are written, or through `call`, `then`
and the like.
"""

from collections.abc import Iterator
from typing import Final

from consentry.examine.javascript.literals import name_of
from consentry.examine.javascript.scopes import (
    FUNCTIONS,
    Binding,
    Kind,
    Path,
    Scopes,
    Slot,
    key_of,
    names_in,
)
from consentry.examine.syntaxtree import Syntax, Tree

WRAPPERS: Final = frozenset(
    {
        "parenthesized_expression",
        "as_expression",
        "satisfies_expression",
        "non_null_expression",
        "type_assertion",
        "await_expression",
    }
)
"""Expressions that have the value of what they are around."""

_KEEPING: Final = frozenset({"||=", "&&=", "??="})
_MAY_BE_A_THING: Final = frozenset(
    {
        "identifier",
        "member_expression",
        "subscript_expression",
        "call_expression",
        "new_expression",
        "ternary_expression",
        "binary_expression",
        "assignment_expression",
        "sequence_expression",
        "this",
        *WRAPPERS,
    }
)


_CHANGEABLE: Final = frozenset({"array", "object"})


class Feeding:
    """The flows of a file."""

    def __init__(self, tree: Tree, scopes: Scopes) -> None:
        self.scopes = scopes
        self.feeds: dict[Syntax, list[tuple[Slot, Path]]] = {}
        self.properties: dict[str, Slot] = {}
        self.computed_properties: list[tuple[Syntax, Syntax]] = []
        self.results: dict[Syntax, Slot] = {}
        self.taken: set[Syntax] = set()
        """Arguments whose way into the function is followed."""

        self.references: dict[Binding, list[Syntax]] = {}
        """The places where names are used that were given an array or object."""

        for binding in {id(each): each for _, _, each, _ in scopes.patterns}.values():
            for source, path in binding.sources:
                self._feed(source, binding, path)
        self._by_kind = {
            "assignment_expression": self._assignment,
            "augmented_assignment_expression": self._augmented,
            "update_expression": self._updated,
            "for_in_statement": self._loop,
            "pair": self._pair,
            "shorthand_property_identifier": self._shorthand,
            "field_definition": self._field,
            "public_field_definition": self._field,
            "return_statement": self._return,
            "arrow_function": self._arrow,
            "call_expression": self._called,
            "new_expression": self._called,
            "identifier": self._referred,
        }
        for node in tree.upwards:
            self._collect(node)

    def _feed(self, source: Syntax | None, slot: Slot, path: Path) -> None:
        if source is not None:
            self.feeds.setdefault(source, []).append((slot, path))

    def _collect(self, node: Syntax) -> None:
        collect = self._by_kind.get(node.kind)
        if collect is not None:
            collect(node)

    def _assignment(self, node: Syntax) -> None:
        self._assigned(node.child("left"), node.child("right"))

    def _augmented(self, node: Syntax) -> None:
        operator = node.child("operator")
        keeps = operator is not None and operator.kind in _KEEPING
        self._assigned(node.child("left"), node.child("right") if keeps else None)

    def _updated(self, node: Syntax) -> None:
        self._assigned(node.child("argument"), None)

    def _loop(self, node: Syntax) -> None:
        if node.child("kind") is None:
            self._assigned(node.child("left"), None)

    def _pair(self, node: Syntax) -> None:
        key, value = node.child("key"), node.child("value")
        if key is not None and not (value is not None and is_declared_type(value)):
            self._property(key_of(key), value)

    def _shorthand(self, node: Syntax) -> None:
        self._property(name_of(node), node)
        self._referred(node)

    def _field(self, node: Syntax) -> None:
        key = node.child("property") or node.child("name")
        if key is not None:
            self._property(key_of(key), node.child("value"))

    def _return(self, node: Syntax) -> None:
        function = self.scopes.of(node).function
        if node.children and function is not None:
            self._returned(function, node.children[0])

    def _arrow(self, node: Syntax) -> None:
        body = node.child("body")
        if body is not None and body.kind != "statement_block":
            self._returned(node, body)

    def _referred(self, node: Syntax) -> None:
        binding = self.scopes.of(node).lookup(name_of(node))
        if binding is not None and any(
            source is not None and unwrapped(source).kind in _CHANGEABLE
            for source, _ in binding.sources[:1]
        ):
            self.references.setdefault(binding, []).append(node)

    def _assigned(self, left: Syntax | None, right: Syntax | None) -> None:
        if left is None:
            return
        for target, path, fallback in names_in(left):
            if target.kind in ("member_expression", "subscript_expression"):
                self._stored(target, right, path)
                continue
            name = name_of(target)
            scope = self.scopes.of(target)
            binding = scope.lookup(name)
            if binding is None:
                binding = self.scopes.program.declare(name, Kind.GLOBAL)
            for source, where in ((right, path), (fallback, ())):
                if source is not None or (where == path and right is None):
                    binding.sources.append((source, where))
                    self._feed(source, binding, where)
            if right is not None and not path and right.kind in FUNCTIONS:
                binding.functions.append(right)

    def _stored(self, target: Syntax, right: Syntax | None, path: Path) -> None:
        key = target.child("property") or target.child("index")
        if key is None or right is None:
            return
        if key.kind in ("property_identifier", "private_property_identifier"):
            self._property(name_of(key), right, path)
        elif not path:
            self.computed_properties.append((key, right))

    def _property(self, key: object, value: Syntax | None, path: Path = ()) -> None:
        if value is None or not (
            value.kind in _MAY_BE_A_THING or value.kind == "shorthand_property_identifier"
        ):
            return
        if isinstance(key, Syntax):
            self.computed_properties.append((key, value))
        elif isinstance(key, str):
            self._feed(value, self.property(key), path)

    def property(self, name: str) -> Slot:
        """What properties of that name may be."""
        return self.properties.setdefault(name, Slot())

    def _returned(self, function: Syntax, value: Syntax) -> None:
        self._feed(value, self.results.setdefault(function, Slot()), ())

    def _called(self, node: Syntax) -> None:
        callee = node.child("function") or node.child("constructor")
        given = arguments_of(node)
        if callee is None:
            return
        for function in self.functions_of(callee):
            self._pass(function, given)
        inner = unwrapped(callee)
        if inner.kind != "member_expression":
            return
        owner, name = inner.child("object"), inner.child("property")
        if owner is None or name is None:
            return
        method = name_of(name)
        if method == "call":
            for function in self.functions_of(owner):
                self._pass(function, given[1:])
        elif method == "then" and given:
            for function in self.functions_of(given[0]):
                self._pass(function, [owner])

    def _pass(self, function: Syntax, given: list[Syntax]) -> None:
        taken = self.scopes.parameters.get(function, [])
        for at, argument in enumerate(given):
            if argument.kind == "spread_element" or at >= len(taken):
                return
            parameter = taken[at]
            if parameter is None:
                return
            if function not in self.scopes.uses_arguments:
                self.taken.add(argument)
            for binding, path in parameter:
                binding.sources.append((argument, path))
                self._feed(argument, binding, path)

    def functions_of(self, node: Syntax) -> Iterator[Syntax]:
        """The functions of this file that an expression may be."""
        inner = unwrapped(node)
        if inner.kind in FUNCTIONS:
            yield inner
        elif inner.kind == "identifier":
            binding = self.scopes.of(inner).lookup(name_of(inner))
            if binding is not None:
                yield from binding.functions


def unwrapped(node: Syntax) -> Syntax:
    """What the parentheses and casts are around; of a sequence, its last."""
    while node.kind in WRAPPERS or node.kind == "sequence_expression":
        if not node.children:
            return node
        node = node.children[-1] if node.kind in _LAST else node.children[0]
    return node


_LAST: Final = frozenset({"sequence_expression", "type_assertion"})


def is_declared_type(node: Syntax) -> bool:
    """Whether it stands as `type: Function`, alone or in a list, as components declare theirs."""
    above = node.up.up if node.up.kind == "array" else node.up
    key = above.child("key") if above.kind == "pair" else None
    if key is None or key.kind != "property_identifier" or name_of(key) != "type":
        return False
    return node.text == "Function" and above.up.up.kind == "pair"


def arguments_of(call: Syntax) -> list[Syntax]:
    """The arguments; of a tagged template, the template."""
    given = call.child("arguments")
    if given is None:
        return []
    return [given] if given.kind == "template_string" else given.children


def global_binding(binding: Binding | None) -> bool:
    """Whether a name may mean the global of that name: assigned without, or declared and left so."""
    if binding is None or binding.kind is Kind.GLOBAL:
        return True
    return binding.kind is Kind.VAR and not binding.sources and not binding.functions
