"""Names and where they come from: which binding an identifier means, and what flows into it.

One pass declares every name in its scope. What flows where (initialisers, assignments, arguments of
functions of the same file, properties by their name, what functions return) is collected in
`feeding`. A name that is declared nowhere is a global.

Functions in blocks are names of that block alone: a reader in sloppy mode would see them further
out, and taking such a name for the global it may hide names a power too many, never one too few.
"""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from consentry.examine.javascript.importing import imported_names
from consentry.examine.javascript.literals import name_of, string_of
from consentry.examine.javascript.positions import elements_of
from consentry.examine.syntaxtree import Syntax, Tree

if TYPE_CHECKING:
    from consentry.examine.javascript.values import Thing

MOST_SCOPES: Final = 1000
"""Scopes nested deeper share one, so that looking up a name stays cheap; the file says so."""

MOST_PATH: Final = 16
"""Names taken from deeper inside a pattern have no source."""

FUNCTIONS: Final = frozenset(
    {
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "arrow_function",
        "method_definition",
    }
)
CLASSES: Final = frozenset({"class", "class_declaration", "abstract_class_declaration"})
_BLOCKS: Final = frozenset(
    {
        "statement_block",
        "for_statement",
        "for_in_statement",
        "switch_body",
        "catch_clause",
        "class_body",
        "class_static_block",
        "internal_module",
        "module",
    }
)
_NAMED: Final = CLASSES | {"enum_declaration", "internal_module", "module"}
_OWN_THIS: Final = FUNCTIONS | {"class_body", "class_static_block"}
_FUNCTION_LIKE: Final = FUNCTIONS | {"class_static_block", "internal_module", "module"}


_TAKES_VALUE: Final = frozenset(
    {
        "identifier",
        "shorthand_property_identifier_pattern",
        "member_expression",
        "subscript_expression",
    }
)


class Rest(StrEnum):
    """What is left of an object after names were taken from it."""

    REST = "..."


Step: TypeAlias = str | Syntax | Rest
Path: TypeAlias = tuple[Step, ...]
Taken: TypeAlias = tuple[Syntax, Path, Syntax | None]


class Kind(StrEnum):
    """How a name was declared."""

    CONST = "const"
    LET = "let"
    VAR = "var"
    PARAMETER = "parameter"
    FUNCTION = "function"
    CLASS = "class"
    IMPORT = "import"
    GLOBAL = "global"


class Slot:
    """A place that things flow into."""

    __slots__ = ("things", "was_read")

    def __init__(self) -> None:
        self.things: set[Thing] = set()
        self.was_read = False


class Binding(Slot):
    """A name; `sources` are the expressions that it may have its value from, None for computed."""

    __slots__ = ("functions", "kind", "name", "sources")

    def __init__(self, name: str, kind: Kind) -> None:
        super().__init__()
        self.name = name
        self.kind = kind
        self.sources: list[tuple[Syntax | None, Path]] = []
        self.functions: list[Syntax] = []


class Scope:
    """The names of a function or block."""

    __slots__ = ("depth", "function", "is_function", "names", "parent")

    def __init__(
        self, parent: "Scope | None", function: Syntax | None, *, is_function: bool
    ) -> None:
        self.parent = parent
        self.function = function
        """The function or class around it, whose `this` it has; None for the file itself."""

        self.is_function = is_function
        self.names: dict[str, Binding] = {}
        self.depth: int = 0 if parent is None else parent.depth + 1

    def lookup(self, name: str) -> Binding | None:
        """The binding that the name means here."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def declare(self, name: str, kind: Kind) -> Binding:
        """The binding in this scope; a `var` belongs to the function around it."""
        scope = self
        if kind is Kind.VAR:
            while not scope.is_function and scope.parent is not None:
                scope = scope.parent
        found = scope.names.get(name)
        if found is None:
            found = scope.names[name] = Binding(name, kind)
        return found


class Scopes:
    """All scopes of a file; every node knows its own."""

    def __init__(self, tree: Tree) -> None:
        self.program = Scope(None, None, is_function=True)
        self.is_too_deep = False
        self.parameters: dict[Syntax, list[list[tuple[Binding, Path]] | None]] = {}
        """For each function its parameters in order; None for one that takes all the rest."""

        self.uses_arguments: set[Syntax] = set()
        self.patterns: list[tuple[Syntax, Syntax, Binding, Path]] = []
        """Declarations: the pattern, the node of the name, the binding, the path to it."""

        self._by_kind: dict[str, Callable[[Syntax, Scope, Scope], None]] = {
            "identifier": self._identifier,
            "variable_declarator": self._declarator,
            "for_in_statement": self._loop,
            "import_statement": self._import,
            "catch_clause": self._catch,
            **dict.fromkeys(FUNCTIONS, self._declare_function),
            **dict.fromkeys(_NAMED, self._named),
        }
        self._declare_all(tree.root)

    def of(self, node: Syntax) -> Scope:
        """The scope that the names of the node are looked up in."""
        scope: Scope = node.scope
        return scope

    def _declare_all(self, root: Syntax) -> None:
        below: list[tuple[Syntax, Scope]] = [(root, self.program)]
        while below:
            node, scope = below.pop()
            node.scope = scope
            inner = self._inner(node, scope)
            self._declare(node, scope, inner)
            below += [(child, inner) for child in reversed(node.children)]

    def _inner(self, node: Syntax, scope: Scope) -> Scope:
        kind = node.kind
        if kind not in FUNCTIONS and kind not in _BLOCKS:
            return scope
        if kind == "statement_block" and node.up.kind in FUNCTIONS:
            return scope
        if scope.depth >= MOST_SCOPES:
            self.is_too_deep = True
            return scope
        function = node if kind in _OWN_THIS else scope.function
        return Scope(scope, function, is_function=kind in _FUNCTION_LIKE)

    def _declare(self, node: Syntax, scope: Scope, inner: Scope) -> None:
        declare = self._by_kind.get(node.kind)
        if declare is not None:
            declare(node, scope, inner)

    def _identifier(self, node: Syntax, scope: Scope, _: Scope) -> None:
        if scope.function is not None and node.text == "arguments":
            self.uses_arguments.add(scope.function)

    def _declarator(self, node: Syntax, scope: Scope, _: Scope) -> None:
        pattern = node.child("name")
        if pattern is not None:
            self._declare_pattern(node, pattern, scope, _declared(node.up), node.child("value"))

    def _named(self, node: Syntax, scope: Scope, _: Scope) -> None:
        name = node.child("name")
        if name is not None and name.kind in ("identifier", "type_identifier"):
            scope.declare(name_of(name), Kind.CLASS)

    def _loop(self, node: Syntax, _: Scope, inner: Scope) -> None:
        left = node.child("left")
        if left is not None and node.child("kind") is not None:
            self._declare_pattern(node, left, inner, Kind.LET, None)

    def _import(self, node: Syntax, scope: Scope, _: Scope) -> None:
        for local, things in imported_names(node):
            scope.declare(local, Kind.IMPORT).things |= things

    def _catch(self, node: Syntax, _: Scope, inner: Scope) -> None:
        parameter = node.child("parameter")
        if parameter is not None:
            self._declare_pattern(node, parameter, inner, Kind.PARAMETER, None)

    def _declare_pattern(
        self, node: Syntax, pattern: Syntax, scope: Scope, kind: Kind, value: Syntax | None
    ) -> None:
        for name, path, fallback in names_in(pattern):
            if name.kind in ("member_expression", "subscript_expression"):
                continue
            binding = scope.declare(name_of(name), kind)
            self.patterns.append((node, name, binding, path))
            is_bare_declaration = value is None and node.kind == "variable_declarator"
            if not is_bare_declaration:
                binding.sources.append((value, path))
            if fallback is not None:
                binding.sources.append((fallback, ()))
            if value is not None and not path and value.kind in FUNCTIONS:
                binding.functions.append(value)

    def _declare_function(self, node: Syntax, scope: Scope, inner: Scope) -> None:
        name = node.child("name")
        if name is not None and node.kind != "method_definition":
            around = scope if node.kind.endswith("_declaration") else inner
            binding = around.declare(name_of(name), Kind.FUNCTION)
            binding.functions.append(node)
        parameters = node.child("parameters")
        single = node.child("parameter")
        patterns = [single] if single is not None else []
        if parameters is not None:
            patterns = [each for each in parameters.children if each.kind != "decorator"]
        taken: list[list[tuple[Binding, Path]] | None] = []
        for pattern in patterns:
            self._declare_pattern(node, pattern, inner, Kind.PARAMETER, None)
            is_rest = pattern.kind == "rest_pattern" or pattern.first("rest_pattern") is not None
            taken.append(
                None
                if is_rest
                else [
                    (inner.names[name_of(each)], path)
                    for each, path, _ in names_in(pattern)
                    if name_of(each) in inner.names
                ]
            )
        self.parameters[node] = taken


def names_in(pattern: Syntax) -> Iterator[Taken]:
    """Each name or member that a pattern gives a value, the path to it, and its default."""
    below: list[Taken] = [(pattern, (), None)]
    while below:
        node, path, fallback = below.pop()
        if len(path) > MOST_PATH:
            path = (*path[:MOST_PATH], Rest.REST)
        if node.kind in _TAKES_VALUE:
            yield node, path, fallback
        else:
            below += _inside(node, path, fallback)


def _inside(node: Syntax, path: Path, fallback: Syntax | None) -> Iterator[Taken]:
    match node.kind:
        case "object_pattern":
            yield from (_shorthand(child, path) for child in node.children)
        case "pair_pattern":
            key, value = node.child("key"), node.child("value")
            if key is not None and value is not None:
                yield value, (*path, key_of(key)), fallback
        case "array_pattern":
            elements = elements_of(node)
            if elements is None:
                yield from ((child, (*path, Rest.REST), None) for child in node.children)
            for at, each in enumerate(elements or ()):
                if each is not None:
                    yield each, (*path, str(at)), None
        case "assignment_pattern" | "required_parameter" | "optional_parameter":
            inner = node.child("left") or node.child("pattern")
            if inner is not None:
                yield inner, path, node.child("right") or node.child("value")
        case "rest_pattern":
            yield from ((child, (*path, Rest.REST), None) for child in node.children)
        case "parenthesized_expression" | "non_null_expression" | "as_expression":
            yield from ((child, path, fallback) for child in node.children[:1])


def _shorthand(node: Syntax, path: Path) -> Taken:
    """`{a}` and `{a = 1}` name the property and the variable at once."""
    left = node.child("left") if node.kind == "object_assignment_pattern" else None
    name = node if left is None else left
    if name.kind == "shorthand_property_identifier_pattern":
        return name, (*path, name_of(name)), node.child("right")
    return name, path, None


def key_of(key: Syntax) -> Step:
    """The name of a property where it is written out, else the expression that computes it."""
    match key.kind:
        case "string":
            return string_of(key)
        case "computed_property_name":
            return key.children[0] if key.children else key
        case _:
            return name_of(key)


def _declared(declaration: Syntax) -> Kind:
    if declaration.kind == "variable_declaration":
        return Kind.VAR
    keyword = declaration.child("kind")
    return Kind.CONST if keyword is not None and keyword.kind == "const" else Kind.LET
