"""The powers of a file: every place where something of the tables is called, or handed on."""

from collections.abc import Iterable
from typing import Final

from consentry.examine.atoms import (
    ANYTHING,
    Atom,
    Extraction,
    Found,
    ModuleImport,
    Unclassified,
    loading,
    reading,
    seeing,
)
from consentry.examine.constanttargets import host_atom, path_atoms, variable_atom
from consentry.examine.javascript.contexts import Context, Contexts
from consentry.examine.javascript.effects import Place, atoms_of, bare_atoms
from consentry.examine.javascript.feeding import arguments_of, is_declared_type, unwrapped
from consentry.examine.javascript.flow import Flow, listed_in, things_of
from consentry.examine.javascript.folding import branches
from consentry.examine.javascript.importing import (
    exported_things,
    is_for_types,
    module_of,
    names_of,
)
from consentry.examine.javascript.literals import name_of
from consentry.examine.javascript.modules import Origin, origin_of, unknown_key
from consentry.examine.javascript.reflection import Reflection
from consentry.examine.javascript.scopes import Path, Rest
from consentry.examine.javascript.tables import ATTRIBUTES, GLOBALS, row_named, row_of_module
from consentry.examine.javascript.values import Partial, Thing, Things, Unknown
from consentry.examine.knowledge.effects import Effect, Power
from consentry.examine.syntaxtree import Syntax
from consentry.surface.dimensions import LoadLevel

MOST_REASON: Final = 80

_TIMERS: Final = frozenset({"setTimeout", "setInterval", "setImmediate", "execScript"})
_FUNCTION: Final = Thing(GLOBALS, "Function")
_VALUES: Final = frozenset(
    {
        "identifier",
        "shorthand_property_identifier",
        "member_expression",
        "nested_identifier",
        "subscript_expression",
        "call_expression",
        "new_expression",
    }
)


class Walk:
    """One walk over a file whose things are known."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._folding = flow.folding
        self._tree = flow.tree
        self._contexts = Contexts(flow.feeding)
        self._reflection = Reflection(flow, self._contexts)
        self._has_declared_type = False
        self._called_types: list[Syntax] = []
        self._found: dict[tuple[Atom, int], Found] = {}
        self._unclassified: dict[tuple[str, int], Unclassified] = {}
        self._imports: dict[tuple[str, int], ModuleImport] = {}

    def extraction(self) -> Extraction:
        """All that was found, in the order of lines."""
        for node in self._tree.upwards:
            self._visit(node)
        for node in self._flow.feeding.feeds:
            self._taken_apart(node)
        for node in self._reflection.destructured():
            self._load(node)
        if self._has_declared_type:
            for node in self._called_types:
                self._load(node)
        return Extraction(
            tuple(sorted(self._found.values(), key=lambda each: (each.line, each.atom))),
            tuple(sorted(self._unclassified.values(), key=lambda each: (each.line, each.key))),
            tuple(sorted(self._imports.values(), key=lambda each: (each.line, each.module))),
        )

    def _visit(self, node: Syntax) -> None:
        kind = node.kind
        if kind in _VALUES:
            if kind in ("call_expression", "new_expression"):
                self._called(node)
            elif kind in ("member_expression", "subscript_expression", "nested_identifier"):
                self._member(node)
            found = things_of(node)
            if found:
                self._mentioned(node, found)
        elif kind in ("import_statement", "export_statement") and not is_for_types(node):
            module = module_of(node)
            if module is not None:
                self._import(module, names_of(node), node)
            if kind == "export_statement":
                for thing in exported_things(node):
                    self._hand_on(thing, node)

    # ---- emitting ----------------------------------------------------------------------------

    def _emit(self, atoms: Iterable[Atom], node: Syntax, reason: str | None = None) -> None:
        line = self._tree.line(node)
        for atom in atoms:
            if (atom, line) not in self._found:
                said = _said(node) if reason is None else reason
                self._found[atom, line] = Found(atom, line, said)

    def _load(self, node: Syntax, reason: str | None = None) -> None:
        self._emit((loading(LoadLevel.ANY),), node, reason)

    def _doubt(self, key: str, node: Syntax, reason: str) -> None:
        line = self._tree.line(node)
        self._unclassified[key, line] = Unclassified(key, line, reason)

    # ---- modules -----------------------------------------------------------------------------

    def _import(self, module: str, names: tuple[str, ...], node: Syntax) -> None:
        shown = module[:MOST_REASON]
        match origin_of(module):
            case Origin.TABLE:
                row = row_of_module(module.strip())
                if row is not None:
                    self._emit(bare_atoms(row_named(row).imported), node, f"import {shown}")
            case Origin.TREE:
                line = self._tree.line(node)
                found = ModuleImport(module.strip(), 1, names, line, is_known=False)
                self._imports[module.strip(), line] = found
            case Origin.ADDRESS:
                self._emit((host_atom(module),), node, f"import {shown}")
                self._doubt(f"import {shown}", node, "code that is fetched when it runs")
            case Origin.DATA:
                self._load(node, f"import {shown}")
            case Origin.FILE:
                self._emit(path_atoms(reading, module), node, f"import {shown}")
                self._doubt(f"import file:{shown}", node, "code outside of the tree")
            case Origin.UNKNOWN:
                key = unknown_key(module)
                self._doubt(key[: 4 * MOST_REASON], node, "no table knows what this package does")

    def _loaded(self, given: list[Syntax], node: Syntax) -> None:
        """A module by the name that the first argument is worth."""
        if not given:
            return
        if given[0].kind == "spread_element":
            self._load(node)
            return
        for each in branches(given[0]):
            name = self._folding.value(each)
            if isinstance(name, str):
                self._import(name, ("*",), node)
            elif isinstance(name, (Partial, Unknown, tuple)):
                self._load(node)  # a number is that of a module in the same bundle

    # ---- calls -------------------------------------------------------------------------------

    def _called(self, node: Syntax) -> None:
        callee = node.child("function") or node.child("constructor")
        if callee is None:
            return
        given = arguments_of(node)
        if callee.kind == "import":
            self._loaded(given, node)
            return
        inner = unwrapped(callee)
        for thing in things_of(inner):
            self._call(thing, given, node)
        if inner.kind == "member_expression":
            self._through_method(inner, given, node)
        if self._reflection.makes_code(node, inner):
            self._load(node)

    def _through_method(self, inner: Syntax, given: list[Syntax], node: Syntax) -> None:
        owner, key = inner.child("object"), inner.child("property")
        if owner is None or key is None:
            return
        name = name_of(key)
        if name == "type" and given:
            self._called_types.append(node)
        elif name == "call":
            for thing in things_of(owner):
                self._call(thing, given[1:], node)
        elif name == "apply":
            for thing in things_of(owner):
                self._call(thing, _spread(given[1:2]), node)
        elif name == "bind" and len(given) > 1:
            for thing in things_of(owner):
                self._call(thing, None, node)

    def _call(self, thing: Thing, given: list[Syntax] | None, node: Syntax) -> None:
        if thing.row == GLOBALS and self._call_global(thing, given or [], node):
            return
        effects = row_named(thing.row).effects_of(thing.member)
        self._emit(atoms_of(effects, Place(self._folding, given)), node)
        for effect in effects:
            if effect.power is Power.RETURNS and effect.constant == "module":
                at = (effect.arguments[0].position if effect.arguments else 0) or 0
                if given is None:
                    self._load(node)
                else:
                    self._loaded(given[at:], node)

    def _call_global(self, thing: Thing, given: list[Syntax], node: Syntax) -> bool:
        if thing.member in _TIMERS:
            if given and self._is_text(given[0]):
                self._load(node)
            return True
        if thing.member in ("Reflect.apply", "Reflect.construct") and given:
            start = 2 if thing.member == "Reflect.apply" else 1
            for called in things_of(given[0]):
                self._call(called, _spread(given[start : start + 1]), node)
            return True
        if thing.member == "Reflect.get" and len(given) > 1:
            self._looked_up(things_of(given[0]), self._folding.text(given[1]), node)
            if self._folding.text(given[1]) == "constructor" and self._reflection.is_function(
                given[0]
            ):
                self._load(node)
            return True
        return False

    def _is_text(self, node: Syntax) -> bool:
        value = self._folding.value(unwrapped(node))
        if isinstance(value, (str, Partial)):
            return True
        inner = unwrapped(node)
        if inner.kind == "template_string":
            return True
        return inner.kind == "binary_expression" and any(
            child.kind in ("string", "template_string") for child in inner.children
        )

    # ---- members -----------------------------------------------------------------------------

    def _member(self, node: Syntax) -> None:
        owner = node.child("object")
        key, index = node.child("property"), node.child("index")
        if owner is None or _is_stored_to(node):
            return
        name = name_of(key) if key is not None else None
        if index is not None:
            name = self._folding.text(index)
        self._looked_up(things_of(owner), name, node)
        if (name == "constructor" and self._reflection.leads_to_code(node, owner)) or (
            name is None and self._reflection.is_disguised(node, owner)
        ):
            self._load(node)

    def _looked_up(self, found: Things, name: str | None, node: Syntax) -> None:
        """A member by a name that may be computed."""
        for thing in sorted(found):
            row = row_named(thing.row)
            if row.reads_variables and not thing.member:
                self._emit((variable_atom(name) if name is not None else seeing(ANYTHING),), node)
            elif name is None and not thing.is_instance:
                handed = row.handed_on(thing.member)
                if handed or (row.reflects and not thing.member):
                    self._load(node)
                    self._emit(atoms_of(handed, Place(self._folding, None)), node)

    def _taken_apart(self, node: Syntax) -> None:
        """Names that are taken out of an object by a pattern."""
        found = things_of(node)
        if not found:
            return
        for _, path in self._flow.feeding.feeds[node]:
            self._along(found, path, node)

    def _along(self, found: Things, path: Path, node: Syntax) -> None:
        for at, step in enumerate(path):
            here = self._flow.along(found, path[:at])
            if isinstance(step, Rest):
                reads = [each for each in here if row_named(each.row).reads_variables]
                if reads:
                    self._emit((seeing(ANYTHING),), node)
                return
            name = self._folding.text(step) if isinstance(step, Syntax) else step
            self._looked_up(here, name, node)

    # ---- mentions ----------------------------------------------------------------------------

    def _mentioned(self, node: Syntax, found: Things) -> None:
        context = self._contexts.of(node)
        if context is Context.HANDED_ON:
            for thing in sorted(found):
                if thing == _FUNCTION and is_declared_type(node):
                    self._has_declared_type = True
                else:
                    self._hand_on(thing, node)
        elif context is Context.LOOKED_AT and node.up.kind == "binary_expression":
            self._asked_for(node, found)

    def _asked_for(self, node: Syntax, found: Things) -> None:
        """`"NAME" in process.env` tells whether the variable is there."""
        operator, left = node.up.child("operator"), node.up.child("left")
        if operator is None or left is None or operator.kind != "in" or left is node:
            return
        reads = [each for each in found if row_named(each.row).reads_variables]
        self._looked_up(frozenset(reads), self._folding.text(left), node.up)

    def _hand_on(self, thing: Thing, node: Syntax) -> None:
        if thing.is_instance:
            return
        effects: tuple[Effect, ...] = row_named(thing.row).handed_on(thing.member)
        self._emit(atoms_of(effects, Place(self._folding, None)), node)
        is_loader = any(
            each.power is Power.RETURNS and each.constant == "module" for each in effects
        )
        if is_loader and thing.row != ATTRIBUTES:
            self._load(node)


def _is_stored_to(node: Syntax) -> bool:
    """Whether a member only gets a value, or is deleted."""
    above = node.up
    if above.kind == "assignment_expression" and node.field == "left":
        return True
    operator = above.child("operator") if above.kind == "unary_expression" else None
    return operator is not None and operator.kind == "delete"


def _spread(given: list[Syntax]) -> list[Syntax] | None:
    """The arguments in an array; None where it is not written out."""
    listed = listed_in(given)
    return listed if listed or not given else None


def _said(node: Syntax) -> str:
    text = node.source[node.start : min(node.end, node.start + 4 * MOST_REASON)]
    plain = " ".join(text.decode("utf-8", "replace").split())
    return plain if len(plain) <= MOST_REASON else f"{plain[: MOST_REASON - 1]}…"
