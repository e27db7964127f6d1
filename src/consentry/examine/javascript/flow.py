"""Which things of the tables an expression may be.

Nodes are visited children first, and what a node may be is read from its children, from the slots
of names, properties and results, and written into the slots that it feeds. Rounds are repeated
while something changed that had been read before. There is no recursion.

What is not followed: arrays and maps that things are kept in, functions that are handed on. A thing
that goes where it is not followed counts, at that place, as used in every way (see `contexts`).
"""

from collections.abc import Callable, Iterable
from typing import Final

from consentry.examine.javascript.feeding import (
    WRAPPERS,
    Feeding,
    arguments_of,
    global_binding,
    unwrapped,
)
from consentry.examine.javascript.folding import Folding
from consentry.examine.javascript.literals import name_of
from consentry.examine.javascript.modules import module_thing
from consentry.examine.javascript.scopes import Kind, Path, Rest
from consentry.examine.javascript.tables import (
    ATTRIBUTES,
    GLOBALS,
    IMPORT_META,
    REQUIRE,
    child_of,
    row_named,
)
from consentry.examine.javascript.untouched import Untouched
from consentry.examine.javascript.values import NO_THINGS, Thing, Things
from consentry.examine.knowledge.effects import Power
from consentry.examine.syntaxtree import Syntax, Tree

MOST_ROUNDS: Final = 12
MOST_THINGS: Final = 24
"""An expression that may be more things than these is taken for the first of them, in order."""

_LOGICAL: Final = frozenset({"||", "&&", "??", ","})


class Flow:
    """The things of a file; `things_of` answers after `settle`."""

    def __init__(self, tree: Tree, feeding: Feeding) -> None:
        self.tree = tree
        self.feeding = feeding
        self.scopes = feeding.scopes
        self.untouched = Untouched(feeding)
        self.folding = Folding(feeding.scopes, self.untouched)
        self.is_settled = False
        self._has_changed = False
        self._by_kind: dict[str, Callable[[Syntax], Iterable[Thing]]] = {
            "identifier": self._identifier,
            "shorthand_property_identifier": self._identifier,
            "member_expression": self._member,
            "nested_identifier": self._member,
            "subscript_expression": self._subscript,
            "call_expression": self._called,
            "new_expression": self._called,
            "this": self._this,
            "meta_property": lambda _: (Thing(IMPORT_META),),
            "ternary_expression": self._chosen,
            "binary_expression": self._chosen,
            "sequence_expression": lambda node: things_of(node.children[-1]),
            "assignment_expression": lambda node: _of(node.child("right")),
            "type_assertion": lambda node: things_of(node.children[-1]),
            **dict.fromkeys(WRAPPERS - {"type_assertion"}, _first),
        }

    def settle(self) -> None:
        """Rounds until nothing changes; `is_settled` stays false when that took too many."""
        for _ in range(MOST_ROUNDS):
            self._has_changed = False
            self.folding.forget()
            self.untouched.forget()
            for node in self.tree.upwards:
                resolve = self._by_kind.get(node.kind)
                if resolve is None:
                    continue
                found = frozenset(resolve(node))
                if len(found) > MOST_THINGS:
                    found = frozenset(sorted(found)[:MOST_THINGS])
                node.things = found
                if found and node in self.feeding.feeds:
                    self._feed(node, found)
            self._feed_computed()
            if not self._has_changed:
                self.is_settled = True
                return

    def _feed(self, node: Syntax, found: Things) -> None:
        for slot, path in self.feeding.feeds[node]:
            new = self.along(found, path) - slot.things
            if new and len(slot.things) <= MOST_THINGS:
                slot.things |= new
                self._has_changed |= slot.was_read

    def _feed_computed(self) -> None:
        """Properties whose names are computed from constants."""
        for key, value in self.feeding.computed_properties:
            found = things_of(value)
            name = self.folding.text(key) if found else None
            if name is not None:
                slot = self.feeding.property(name)
                if found - slot.things and len(slot.things) <= MOST_THINGS:
                    slot.things |= found
                    self._has_changed = True

    def along(self, found: Things, path: Path) -> Things:
        """What is found at the end of a path of properties."""
        for step in path:
            if not found:
                return NO_THINGS
            if isinstance(step, Rest):
                continue
            name = self.folding.text(step) if isinstance(step, Syntax) else step
            if name is None:
                return NO_THINGS
            found = frozenset(
                each for thing in found if (each := child_of(thing, name)) is not None
            )
        return found

    def _identifier(self, node: Syntax) -> Iterable[Thing]:
        name = name_of(node)
        binding = self.scopes.of(node).lookup(name)
        if binding is None:
            return _global(name)
        binding.was_read = True
        if global_binding(binding):
            return (*_global(name), *binding.things)
        if name == "require" and binding.kind is Kind.PARAMETER:
            # As bundles and asynchronous modules have it: handed in under its own name.
            return (Thing(REQUIRE), *binding.things)
        return tuple(binding.things)

    def _member(self, node: Syntax) -> Iterable[Thing]:
        owner, key = node.child("object"), node.child("property")
        if owner is None or key is None:
            return ()
        return self._property(owner, name_of(key))

    def _subscript(self, node: Syntax) -> Iterable[Thing]:
        owner, index = node.child("object"), node.child("index")
        if owner is None or index is None:
            return ()
        name = self.folding.text(index)
        if name is None:
            return ()
        listed = unwrapped(owner)
        if listed.kind == "array" and name.isdecimal() and int(name) < len(listed.children):
            return things_of(listed.children[int(name)])
        return self._property(owner, name)

    def _property(self, owner: Syntax, name: str) -> Iterable[Thing]:
        found = things_of(owner)
        if found:
            below = [each for thing in found if (each := child_of(thing, name)) is not None]
            if below or not all(thing.is_instance for thing in found):
                return below
        stored: set[Thing] = set()
        if name in self.feeding.properties:
            slot = self.feeding.properties[name]
            slot.was_read = True
            stored = slot.things
        is_telling = not found and name in row_named(ATTRIBUTES).known
        telling = child_of(Thing(ATTRIBUTES), name) if is_telling else None
        return tuple(stored) if telling is None else (telling, *stored)

    def _called(self, node: Syntax) -> Iterable[Thing]:
        callee = node.child("function") or node.child("constructor")
        if callee is None:
            return ()
        given = arguments_of(node)
        if callee.kind == "import":
            return self._modules(given[:1])
        found = things_of(unwrapped(callee))
        results = [each for thing in found for each in self._returned(thing, given)]
        results += self._through_methods(callee, given)
        for function in self.feeding.functions_of(callee):
            if function in self.feeding.results:
                slot = self.feeding.results[function]
                slot.was_read = True
                results += slot.things
        return results

    def _through_methods(self, callee: Syntax, given: list[Syntax]) -> Iterable[Thing]:
        """`bind` leaves a function what it is; `call`, `apply` and `then` pass on what it gives."""
        inner = unwrapped(callee)
        owner, key = inner.child("object"), inner.child("property")
        if inner.kind != "member_expression" or owner is None or key is None:
            return
        name = name_of(key)
        if name == "bind":
            yield from things_of(owner)
        elif name == "call":
            for thing in things_of(owner):
                yield from self._returned(thing, given[1:])
        elif name == "apply":
            for thing in things_of(owner):
                yield from self._returned(thing, listed_in(given[1:2]))
        elif name == "then":
            for function in (
                each for node in given[:1] for each in self.feeding.functions_of(node)
            ):
                if function in self.feeding.results:
                    yield from self.feeding.results[function].things

    def _returned(self, thing: Thing, given: list[Syntax]) -> Iterable[Thing]:
        match thing:
            case Thing("util", "promisify"):
                yield from _of(given[0] if given else None)
            case Thing("globalThis", "Reflect.get") if len(given) > 1:
                name = self.folding.text(given[1])
                if name is not None:
                    yield from self._property(given[0], name)
            case Thing("globalThis", "Reflect.apply" | "Reflect.construct") if given:
                start = 2 if thing.member == "Reflect.apply" else 1
                for called in things_of(given[0]):
                    yield from self._returned(called, listed_in(given[start : start + 1]))
            case Thing("globalThis", "Object.assign" | "Object.freeze" | "Promise.resolve"):
                yield from _of(given[0] if given else None)
            case Thing("globalThis", "Proxy"):
                yield from _of(given[0] if given else None)
        for effect in row_named(thing.row).effects_of(thing.member):
            if effect.power is Power.RETURNS:
                if effect.constant == "module":
                    at = effect.arguments[0].position if effect.arguments else 0
                    yield from self._modules(given[at or 0 : (at or 0) + 1])
                else:
                    yield _named(thing.row, effect.constant or "")

    def _modules(self, given: list[Syntax]) -> Iterable[Thing]:
        for node in given:
            for name in self.folding.texts(node):
                thing = None if name is None else module_thing(name)
                if thing is not None:
                    yield thing

    def _this(self, node: Syntax) -> Iterable[Thing]:
        """The global object at the top of a file, and in functions called where they are written."""
        function = self.scopes.of(node).function
        while function is not None and function.kind == "arrow_function":
            function = self.scopes.of(function).function
        if function is None:
            return (Thing(GLOBALS),)
        around = function.up
        while around.kind in WRAPPERS:
            around = around.up
        is_called = function.field in ("function", "") and around.kind == "call_expression"
        if function.kind == "function_expression" and is_called:
            callee = around.child("function")
            if callee is not None and unwrapped(callee) is function:
                return (Thing(GLOBALS),)
        return ()

    def _chosen(self, node: Syntax) -> Iterable[Thing]:
        if node.kind == "ternary_expression":
            return (*_of(node.child("consequence")), *_of(node.child("alternative")))
        operator = node.child("operator")
        if operator is not None and operator.kind in _LOGICAL:
            return (*_of(node.child("left")), *_of(node.child("right")))
        return ()


def things_of(node: Syntax) -> Things:
    """What the node may be, as found so far."""
    found: Things | None = node.things
    return NO_THINGS if found is None else found


def _of(node: Syntax | None) -> Things:
    return NO_THINGS if node is None else things_of(node)


def _first(node: Syntax) -> Things:
    return things_of(node.children[0]) if node.children else NO_THINGS


def _global(name: str) -> Iterable[Thing]:
    found = child_of(Thing(GLOBALS), name)
    return () if found is None else (found,)


def _named(row: str, name: str) -> Thing:
    """What a row says it returns: a class of the same row, or of another, or that row itself."""
    if name in row_named(row).known:
        return Thing(row, name, is_instance=True)
    other, _, member = name.partition(".")
    return Thing(other, member, is_instance=other != REQUIRE)


def listed_in(given: list[Syntax]) -> list[Syntax]:
    """The elements of an array that is written out; nothing where it is not."""
    for node in given:
        inner = unwrapped(node)
        if inner.kind == "array":
            return inner.children
    return []
