"""Detours to code that is made from text: the constructor of functions, and names in disguise.

Every function leads to `Function` through its property `constructor`, and every value through
`constructor.constructor`. Programs also ask a value for its class that way, so `x.constructor` of
something that is no function counts only where it is used as code is made: called with text, or its
result called.
"""

from collections.abc import Iterator
from typing import Final

from consentry.examine.javascript.contexts import Context, Contexts
from consentry.examine.javascript.feeding import unwrapped
from consentry.examine.javascript.flow import Flow, things_of
from consentry.examine.javascript.literals import name_of
from consentry.examine.javascript.scopes import CLASSES, FUNCTIONS, Kind
from consentry.examine.javascript.values import Partial, Thing
from consentry.examine.syntaxtree import Syntax

_LITERALS: Final = frozenset({"array", "string", "template_string", "regex", "number", "object"})
_HARMLESS: Final = frozenset({"name", "prototype", "length", "toString", "displayName"})
_MEMBERS: Final = frozenset({"member_expression", "subscript_expression"})
_PROTOTYPE_OF: Final = (
    Thing("globalThis", "Object.getPrototypeOf"),
    Thing("globalThis", "Reflect.getPrototypeOf"),
)
_MOST_STEPS: Final = 64


class Reflection:
    """Answers for the expressions of one file."""

    def __init__(self, flow: Flow, contexts: Contexts) -> None:
        self._flow = flow
        self._contexts = contexts

    def leads_to_code(self, node: Syntax, owner: Syntax) -> bool:
        """Whether `owner.constructor` is `Function`, and something is done with it."""
        inner = unwrapped(owner)
        is_twice = inner.kind in _MEMBERS and self._key(inner) == "constructor"
        if not is_twice and not self.is_function(inner):
            return False
        above = node.up
        if above.kind in _MEMBERS and node.field == "object":
            return self._key(above) not in _HARMLESS and self._key(above) != "constructor"
        return self._contexts.of(node) is not Context.LOOKED_AT

    def makes_code(self, call: Syntax, callee: Syntax) -> bool:
        """Whether `x.constructor(…)` of an unknown value is used as one that makes code."""
        if callee.kind not in _MEMBERS or self._key(callee) != "constructor":
            return False
        given = call.child("arguments")
        if given is None or not given.children:
            return False
        above, below = call.up, call
        while above.kind == "parenthesized_expression":
            above, below = above.up, above
        if above.kind == "call_expression" and below.field == "function":
            return True
        value = self._flow.folding.value(given.children[-1])
        return call.kind == "call_expression" and isinstance(value, (str, Partial))

    def is_disguised(self, node: Syntax, owner: Syntax) -> bool:
        """A computed member of an empty array, or of a computed member of a literal."""
        inner = unwrapped(owner)
        index = node.child("index")
        if index is not None and index.text.startswith("Symbol."):
            return False
        if inner.kind == "array" and not inner.children:
            return True
        if inner.kind != "subscript_expression" or node.up.kind != "call_expression":
            return False
        base = inner.child("object")
        return base is not None and unwrapped(base).kind in _LITERALS and self._key(inner) is None

    def is_function(self, node: Syntax) -> bool:
        """Whether the expression is a function for certain."""
        for _ in range(_MOST_STEPS):
            inner = unwrapped(node)
            if inner.kind in FUNCTIONS or inner.kind in CLASSES:
                return True
            if any(thing.member and not thing.is_instance for thing in things_of(inner)):
                return True
            behind = self._prototype_of(inner)
            if behind is None:
                return self._is_named_function(inner)
            node = behind
        return False

    def _is_named_function(self, node: Syntax) -> bool:
        """A name of this file, or a method of a literal."""
        if node.kind == "identifier":
            binding = self._flow.scopes.of(node).lookup(name_of(node))
            return binding is not None and (
                bool(binding.functions) or binding.kind in (Kind.FUNCTION, Kind.CLASS)
            )
        owner = node.child("object") if node.kind in _MEMBERS else None
        return owner is not None and unwrapped(owner).kind in _LITERALS - {"object"}

    def _prototype_of(self, node: Syntax) -> Syntax | None:
        """What the expression is the prototype of; that of a function leads to the same place."""
        if node.kind in _MEMBERS:
            return node.child("object") if self._key(node) == "__proto__" else None
        callee, given = node.child("function"), node.child("arguments")
        if callee is None or given is None or not given.children:
            return None
        is_asked = any(thing in _PROTOTYPE_OF for thing in things_of(unwrapped(callee)))
        return given.children[0] if is_asked else None

    def destructured(self) -> Iterator[Syntax]:
        """Patterns that take the constructor of a function, or the constructor of a constructor."""
        for _, name, binding, path in self._flow.scopes.patterns:
            steps = [step for step in path if step == "constructor"]
            if not steps:
                continue
            sources = [source for source, where in binding.sources if where == path]
            is_from_function = any(each is not None and self.is_function(each) for each in sources)
            if len(steps) > 1 or is_from_function:
                yield name

    def _key(self, member: Syntax) -> str | None:
        key, index = member.child("property"), member.child("index")
        if key is not None:
            return name_of(key)
        return None if index is None else self._flow.folding.text(index)
