"""Constants of an expression: what it is worth whatever the program does.

Follows concatenation, templates, arrays, the methods of texts, names that are given a value once,
and the functions of `constantcalls`. What goes deeper than a bound counts as computed, which never
hides a power: a target that is computed is any target.
"""

import re
from typing import Final

from consentry.examine.javascript.constantcalls import FUNCTIONS
from consentry.examine.javascript.feeding import WRAPPERS, arguments_of, unwrapped
from consentry.examine.javascript.literals import name_of, number_of, string_of, unescaped
from consentry.examine.javascript.positions import elements_of
from consentry.examine.javascript.scopes import Kind, Rest, Scopes, key_of
from consentry.examine.javascript.textmethods import has_pairs, method_called
from consentry.examine.javascript.untouched import Untouched
from consentry.examine.javascript.values import (
    NO_THINGS,
    UNKNOWN,
    Partial,
    Thing,
    Unknown,
    Value,
    added,
    shown,
)
from consentry.examine.syntaxtree import Syntax

MOST_DEEP: Final = 40
MOST_BRANCHES: Final = 16

_CONSTANT: Final = frozenset({Kind.CONST, Kind.LET, Kind.VAR, Kind.GLOBAL})
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_HOME: Final = frozenset({"HOME", "USERPROFILE"})
_WORDS: Final[dict[str, Value]] = {"true": True, "false": False, "null": None}


class Folding:
    """Folds the expressions of one file."""

    def __init__(self, scopes: Scopes, untouched: Untouched) -> None:
        self._scopes = scopes
        self._untouched = untouched
        self._known: dict[Syntax, Value] = {}

    def forget(self) -> None:
        """What was found before things changed does not count."""
        self._known.clear()

    def text(self, node: Syntax) -> str | None:
        """The text that the expression is worth; None when it is computed."""
        return shown(self.value(node))

    def texts(self, node: Syntax) -> list[str | None]:
        """The text for each branch of a choice."""
        return [self.text(each) for each in branches(node)]

    def value(self, node: Syntax, depth: int = 0) -> Value:
        """What the expression is worth."""
        if node in self._known:
            return self._known[node]
        if depth > MOST_DEEP:
            return UNKNOWN
        self._known[node] = UNKNOWN  # what leads back to itself is computed
        found = self._value(node, depth + 1)
        self._known[node] = found
        return found

    def _value(self, node: Syntax, depth: int) -> Value:  # noqa: PLR0911 - one for each kind
        match node.kind:
            case "string":
                return string_of(node)
            case "number":
                number = number_of(node)
                return UNKNOWN if number is None else number
            case "true" | "false" | "null":
                return _WORDS[node.kind]
            case "template_string":
                return self._template(node, depth)
            case "binary_expression":
                return self._binary(node, depth)
            case "unary_expression":
                return self._unary(node, depth)
            case "array":
                return self._array(node, depth)
            case "identifier" | "shorthand_property_identifier":
                return self._name(node, depth)
            case "member_expression" | "subscript_expression":
                return self._member(node, depth)
            case "call_expression" | "new_expression":
                return self._call(node, depth)
        if node.kind in WRAPPERS or node.kind == "sequence_expression":
            inner = unwrapped(node)
            return UNKNOWN if inner is node else self.value(inner, depth)
        return UNKNOWN

    def _array(self, node: Syntax, depth: int) -> Value:
        elements = elements_of(node)
        if elements is None:
            return UNKNOWN
        return tuple(UNKNOWN if each is None else self.value(each, depth) for each in elements)

    def _template(self, node: Syntax, depth: int) -> Value:
        parts: list[Value] = []
        at = node.start + 1
        for child in node.children:
            if child.kind != "template_substitution":
                continue
            parts.append(_between(node, at, child.start))
            parts.append(self.value(child.children[0], depth) if child.children else UNKNOWN)
            at = child.end
        parts.append(_between(node, at, node.end - 1))
        return added(parts)

    def _binary(self, node: Syntax, depth: int) -> Value:
        """A sum of any length from left to right; other operators are not followed."""
        parts: list[Value] = []
        while node.kind in ("binary_expression", "parenthesized_expression"):
            if node.kind == "parenthesized_expression":
                inner = unwrapped(node)
                if inner.kind != "binary_expression":
                    break
                node = inner
                continue
            operator, right, left = node.child("operator"), node.child("right"), node.child("left")
            if operator is None or operator.kind != "+" or right is None or left is None:
                return UNKNOWN
            parts.append(self.value(right, depth))
            node = left
        parts.append(self.value(node, depth))
        parts.reverse()
        return _sum(parts)

    def _unary(self, node: Syntax, depth: int) -> Value:
        operator, argument = node.child("operator"), node.child("argument")
        if operator is None or argument is None:
            return UNKNOWN
        value = self.value(argument, depth)
        if isinstance(value, (int, float)) and operator.kind in ("-", "+"):
            return -value if operator.kind == "-" else +value
        return UNKNOWN

    def _name(self, node: Syntax, depth: int) -> Value:
        binding = self._scopes.of(node).lookup(name_of(node))
        if binding is None or binding.kind not in _CONSTANT or len(binding.sources) != 1:
            return UNKNOWN
        source, path = binding.sources[0]
        if source is None or not self._untouched.is_untouched(binding):
            return UNKNOWN
        for step in path:
            inner = unwrapped(source)
            key = self.text(step) if isinstance(step, Syntax) else str(step)
            if step is Rest.REST:
                return UNKNOWN
            if inner.kind == "array":
                elements = elements_of(inner) or []
                element = elements[int(key)] if key and _is_index(key, len(elements)) else None
                if element is None:
                    return UNKNOWN
                source = element
            else:
                found = None if key is None else self.property_of(inner, key)
                if found is None:
                    return self._variable(inner, key) if len(path) == 1 else UNKNOWN
                source = found
        return self.value(source, depth)

    def _member(self, node: Syntax, depth: int) -> Value:
        owner = node.child("object")
        key = node.child("property")
        if owner is None:
            return UNKNOWN
        index = node.child("index")
        name = name_of(key) if key is not None else None
        if index is not None:
            name = shown(self.value(index, depth))
        if name is None:
            return UNKNOWN
        written = self.object_of(owner)
        if written is not None:
            found = self.property_of(written, name)
            return UNKNOWN if found is None else self.value(found, depth)
        known = self._certainly(node)
        if known in _PROPERTIES:
            return _PROPERTIES[known]
        variable = self._variable(owner, name)
        if variable is not UNKNOWN:
            return variable
        return _part(self.value(owner, depth), name)

    def _variable(self, owner: Syntax, name: str | None) -> Value:
        """The home folder has a spelling of its own in paths."""
        is_environment = Thing("process.env") in _things(unwrapped(owner))
        return "~" if is_environment and name in _HOME else UNKNOWN

    def _call(self, node: Syntax, depth: int) -> Value:
        callee = node.child("function") or node.child("constructor")
        if callee is None:
            return UNKNOWN
        arguments = arguments_of(node)
        inner = unwrapped(callee)
        if any(each is node.child("arguments") for each in arguments):
            return self._tagged(inner, arguments[0], depth)
        given = [self.value(each, depth) for each in arguments]
        known = self._certainly(inner)
        is_spread = any(each.kind == "spread_element" for each in arguments)
        if is_spread and known not in _STOPPING:
            return UNKNOWN
        if known is not None and (known.row, known.member) in FUNCTIONS:
            return FUNCTIONS[known.row, known.member](given)
        if inner.kind not in ("member_expression", "subscript_expression"):
            return UNKNOWN
        owner = inner.child("object")
        key, index = inner.child("property"), inner.child("index")
        name = name_of(key) if key is not None else None
        if index is not None:
            name = shown(self.value(index, depth))
        if owner is None or name is None:
            return UNKNOWN
        patterns = [_pattern(each) for each in arguments[:1]]
        return method_called(
            self.value(owner, depth), name, given, patterns[0] if patterns else None
        )

    def _tagged(self, tag: Syntax, template: Syntax, depth: int) -> Value:
        """A template with a tag is whatever the tag makes of it; `String.raw` leaves it alone."""
        is_raw = (
            self._certainly(tag) == _RAW
            and b"\\" not in template.source[template.start : template.end]
        )
        return self.value(template, depth) if is_raw else UNKNOWN

    def _certainly(self, node: Syntax) -> Thing | None:
        """What an expression is, where it can be nothing else: no choice, no name set twice."""
        things = _things(node)
        inner = node
        for _ in range(MOST_DEEP):
            inner = unwrapped(inner)
            if inner.kind in ("call_expression", "await_expression", "meta_property", "import"):
                break
            if inner.kind in ("member_expression", "subscript_expression"):
                inner = inner.child("object") or inner
                continue
            if inner.kind != "identifier":
                return None
            binding = self._scopes.of(inner).lookup(name_of(inner))
            if binding is None or binding.kind is Kind.IMPORT:
                break
            if len(binding.sources) != 1 or binding.functions or binding.sources[0][0] is None:
                return None
            inner = binding.sources[0][0]
        return next(iter(things)) if len(things) == 1 else None

    def object_of(self, node: Syntax) -> Syntax | None:
        """The object that is written out here, or where its name was given its only value."""
        inner = unwrapped(node)
        if inner.kind == "identifier":
            binding = self._scopes.of(inner).lookup(name_of(inner))
            if binding is None or binding.kind not in _CONSTANT or len(binding.sources) != 1:
                return None
            source, path = binding.sources[0]
            if source is None or path or not self._untouched.is_untouched(binding):
                return None
            inner = unwrapped(source)
        return inner if inner.kind == "object" else None

    def property_of(self, written: Syntax, name: str) -> Syntax | None:
        """The value of a property of an object that is written out; None too where it is open."""
        found = self._found_in(written, name)
        return found if isinstance(found, Syntax) else None

    def is_open(self, written: Syntax, name: str) -> bool:
        """Whether the object may have a property of that name that is not written out."""
        return self._found_in(written, name) is UNKNOWN

    def _found_in(self, written: Syntax, name: str) -> Syntax | Unknown | None:
        """The last that gives the property its value; UNKNOWN where something else may."""
        if written.kind != "object":
            return None
        is_inherited = False
        for child in reversed(written.children):
            if child.kind == "shorthand_property_identifier":
                if name_of(child) == name:
                    return child
                continue
            key = child.child("key") or child.child("name")
            said = None if key is None else self._key(key)
            if said is None or (said == name and child.kind != "pair"):
                return UNKNOWN
            if said == name:
                return child.child("value")
            is_inherited |= said == "__proto__"
        return UNKNOWN if is_inherited else None

    def _key(self, key: Syntax) -> str | None:
        if key.kind == "number":
            number = number_of(key)
            return None if number is None else shown(number)
        step = key_of(key)
        return self.text(step) if isinstance(step, Syntax) else str(step)


_RAW: Final = Thing("globalThis", "String.raw")
_STOPPING: Final = frozenset({Thing("path", "join"), Thing("path", "resolve")})
"""Functions that take their arguments only up to the first that is computed."""

_PROPERTIES: Final[dict[Thing, Value]] = {
    Thing("process", "execPath"): "node",
    Thing("os", "EOL"): "\n",
    Thing("path", "sep"): "/",
}


def branches(node: Syntax) -> list[Syntax]:
    """The expressions that one may be, where it chooses; itself where it does not."""
    found: list[Syntax] = []
    below = [node]
    while below:
        each = unwrapped(below.pop())
        operator = each.child("operator")
        if each.kind == "ternary_expression":
            below += [
                child for child in each.children if child.field in ("consequence", "alternative")
            ]
        elif (
            each.kind == "binary_expression"
            and operator is not None
            and operator.kind in ("||", "??")
        ):
            below += [child for child in each.children if child.field in ("left", "right")]
        else:
            found.append(each)
        if len(found) + len(below) > MOST_BRANCHES:
            return [node]
    return found


def _sum(parts: list[Value]) -> Value:
    """Numbers are added until the first text; from there on all is text."""
    total: float = 0
    for at, part in enumerate(parts):
        is_text = isinstance(part, (str, Partial, tuple))
        if is_text:
            return added([*([total] if at else []), *parts[at:]])
        if isinstance(part, bool) or not isinstance(part, (int, float)):
            is_word = at == 0 and len(parts) > 1 and isinstance(parts[1], (str, Partial))
            return added(parts) if is_word and part is not UNKNOWN else UNKNOWN
        total += part
    return total


def _between(node: Syntax, start: int, end: int) -> str:
    return unescaped(node.source[start:end].decode("utf-8", "replace"))


def _part(value: Value, name: str) -> Value:
    """A letter of a text, an element of an array, or how many there are."""
    if not isinstance(value, (str, tuple)) or (isinstance(value, str) and has_pairs(value)):
        return UNKNOWN
    if name == "length":
        return len(value)
    return value[int(name)] if _is_index(name, len(value)) else UNKNOWN


def _is_index(key: str, length: int) -> bool:
    return _INDEX.fullmatch(key) is not None and int(key) < length


def _things(node: Syntax) -> frozenset[Thing]:
    found: frozenset[Thing] | None = node.things
    return NO_THINGS if found is None else found


def _pattern(node: Syntax) -> tuple[str, str] | None:
    """A regular expression that is written out, and its flags."""
    found = node.child("pattern") if node.kind == "regex" else None
    flags = node.child("flags")
    return None if found is None else (found.text, "" if flags is None else flags.text)
