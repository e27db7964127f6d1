"""The powers of Python source: parse, walk, resolve, and look every place up in the tables.

What is named counts, called or not, because what has a name can be called from anywhere. What a name
that is computed may reach counts as any code. A module that is handed on as a value is watched: an
attribute of that name, on an object that is not known, is taken for the module's.
Suppression comments are comments.
"""

import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from consentry.base.canonical import digest_bytes
from consentry.examine.atoms import Extraction, Found, ModuleImport, reading, unclassified
from consentry.examine.constanttargets import path_atoms
from consentry.examine.knowledge.reader import knowledge
from consentry.examine.python import imports, reflection
from consentry.examine.python.calls import BY_NAME, got
from consentry.examine.python.findings import REFLECTION, Findings, short
from consentry.examine.python.paths import PATH
from consentry.examine.python.resolves import BUILTINS
from consentry.examine.python.scopes import Scope
from consentry.examine.python.source import parsed
from consentry.examine.python.values import (
    ConstMethod,
    Getter,
    Method,
    Namespace,
    Ref,
    TooMuch,
    Value,
    alternatives,
)
from consentry.examine.python.walk import walked

MOST_INSIDE: Final = (32, 4, 2, 0)
"""So many pieces of code within code are read, by how deep they lie: constants given to `exec`."""

_OWNER: Final = "__self__"
_OF_PATHS: Final = ("read_text", "read_bytes", "write_text", "write_bytes", "rglob", "iterdir")
_EXECUTES: Final = frozenset({"builtins.exec", "builtins.eval", "builtins.compile"})
_PROTECTED: Final = ("/etc", "/proc", "/var", "/dev", "~/.ssh")
_HARMLESS: Final = frozenset(
    f"/dev/{name}"
    for name in ("null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout", "stderr")
)


def extract_python(content: bytes, *, depth: int = 0) -> Extraction:
    """All that a file of Python source gives."""
    with without_collecting():
        tree = parsed(content)
        if isinstance(tree, str):
            return unclassified(f"source {digest_bytes(content)}", 1, tree)
        tables = knowledge()
        gathered = walked(tree, (*tables.attributes, _OWNER))
        try:
            return _Extractor(Findings(tables, gathered), depth).extraction()
        except TooMuch:
            reason = "leads to more than can be worked out"
            return unclassified(f"source {digest_bytes(content)}", 1, reason)
        finally:
            gathered.forget()


@contextmanager
def without_collecting() -> Iterator[None]:
    """Nothing of a tree is garbage while it is read: looking for some costs a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Extractor:
    """Goes through the places of a file, and puts what they give into the findings."""

    def __init__(self, findings: Findings, depth: int) -> None:
        self.findings = findings
        self.tables = findings.tables
        self.gathered = findings.gathered
        self.resolver = findings.resolver
        self.depth = depth
        self.nested: list[Extraction] = []
        self.read_inside: set[bytes] = set()
        self.taken: set[str] = set()
        """Members that are reached through something else than the import of their module."""

    def extraction(self) -> Extraction:
        imports.add_statements(self.findings)
        for scope in self.gathered.scopes:
            self._calls(scope)
            self._attributes(scope)
            self._subscripts(scope)
            self._bare_names(scope)
        for name, line in self.gathered.matched:
            self.findings.unresolved.setdefault(name, line)
        imports.add_listed_names(self.findings)
        for scope, node in self.gathered.by_name:
            reflection.get_attribute(self.findings, node, scope)
        self._watched()
        self._unknown_paths()
        self._handed_on()
        self._references()
        result = self.findings.extraction()
        for inner in self.nested:
            result |= inner
        return result

    # ---- calls

    def _calls(self, scope: Scope) -> None:
        lookup, resolve = self.resolver.lookup, self.resolver.resolve
        for node in scope.calls:
            func = node.func
            value: Value = None
            if isinstance(func, ast.Name):
                value = lookup(scope, func.id)
                if value is None:
                    imports.note_through_star(self.findings, func, node.lineno)
                    continue
            elif isinstance(func, ast.Attribute):
                base = func.value
                while isinstance(base, ast.Attribute):
                    base = base.value
                if not isinstance(base, ast.Name) or lookup(scope, base.id) is not None:
                    value = resolve(func, scope)
                    if value is None and func.attr == BY_NAME:
                        reflection.get_attribute(self.findings, node, scope)
                if value is None or None in alternatives(value):
                    self.findings.unresolved.setdefault(func.attr, node.lineno)
                    imports.note_through_star(self.findings, func, node.lineno)
            else:
                value = resolve(func, scope)
            for each in alternatives(value):
                self._called(each, node, scope)
                self._note_taken(each, func, scope)

    def _note_taken(self, value: Value, node: ast.expr, scope: Scope) -> None:
        if isinstance(value, Ref):
            while isinstance(node, ast.Attribute):
                node = node.value
            if not (isinstance(node, ast.Name) and scope.is_import(node.id)):
                self.taken.add(self.tables.canonical(value.name))

    def _called(self, value: Value, node: ast.Call, scope: Scope) -> None:
        match value:
            case Ref():
                self._member_called(self.tables.canonical(value.name), node, scope)
            case Method():
                effects = self.tables.method(value.owner.name, value.name)
                if effects:
                    reason = f"{value.owner.name}.{value.name}()"
                    self.findings.add_called(effects, reason, node, scope, value.owner)
            case ConstMethod(owner=Namespace() as owner):
                reflection.ask_namespace(self.findings, value.name, owner, node, scope)
            case ConstMethod(name="format" | "format_map"):
                reflection.fill_template(self.findings, value, node)
            case Getter() if node.args:
                given = self.resolver.resolve(node.args[0], scope)
                self.findings.name(got(self.resolver, value, given), node.lineno)

    def _member_called(self, name: str, node: ast.Call, scope: Scope) -> None:
        effects = self.tables.member(name)
        if name in REFLECTION:
            reflection.get_attribute(self.findings, node, scope)
        elif name in reflection.GETTERS:
            reflection.get_later(self.findings, node, scope)
        elif effects is None:
            self.findings.outside.setdefault(name, node.lineno)
        elif effects:
            self.findings.add_called(effects, f"{short(name)}()", node, scope)
            imports.add_by_name(self.findings, effects, node, scope)
        if not node.args:
            return
        if name == "builtins.vars":
            self.findings.name(self.resolver.resolve(node.args[0], scope), node.lineno)
        if name in reflection.ON_WHOLE:
            reflection.reach_whole(self.findings, name, node, scope)
        elif name in _EXECUTES:
            self._read_inner(node, scope)
        elif name.endswith(f".{BY_NAME}"):
            reflection.get_directly(self.findings, name, node, scope)

    def _read_inner(self, node: ast.Call, scope: Scope) -> None:
        """A constant that is executed is read like a file of its own, at the line of the call."""
        code = self.resolver.constant(node.args[0], scope)
        if isinstance(code, str):
            code = code.encode("utf-8", "replace")
        is_new = isinstance(code, bytes) and code not in self.read_inside
        if isinstance(code, bytes) and is_new and len(self.read_inside) < MOST_INSIDE[self.depth]:
            self.read_inside.add(code)
            inner = extract_python(code, depth=self.depth + 1)
            line = node.lineno
            self.nested.append(
                Extraction(
                    tuple(Found(each.atom, line, each.reason) for each in inner.found),
                    (),
                    tuple(
                        ModuleImport(each.module, each.level, each.names, line, each.is_known)
                        for each in inner.imports
                    ),
                )
            )

    # ---- what is named, looked into, or watched

    def _attributes(self, scope: Scope) -> None:
        lookup, resolve, findings = self.resolver.lookup, self.resolver.resolve, self.findings
        for node in scope.attributes:
            base = node.value
            while isinstance(base, ast.Attribute):
                base = base.value
            value: Value = None
            if not isinstance(base, ast.Name) or lookup(scope, base.id) is not None:
                value = resolve(node, scope)
            if value is None or None in alternatives(value):
                findings.unresolved.setdefault(node.attr, node.lineno)
                imports.note_through_star(self.findings, node, node.lineno)
            for each in alternatives(value):
                self._note_taken(each, node, scope)
                if isinstance(each, Namespace):
                    findings.name(each.owner, node.lineno)
                if isinstance(each, Ref):
                    if isinstance(node.ctx, ast.Load):
                        findings.name_member(each.name, node.lineno)
                    else:
                        findings.patch(each.name, node.lineno)
                elif isinstance(each, Method):
                    findings.name_method(each, scope, node.lineno)

    def _bare_names(self, scope: Scope) -> None:
        for name, node in scope.bare.items():
            value = self.resolver.lookup(scope, name)
            if value is not None:
                self.findings.name(value, node.lineno)

    def _subscripts(self, scope: Scope) -> None:
        for value_node, key_node, mode in scope.subscripts:
            value = self.resolver.resolve(value_node, scope)
            if value is not None:
                for each in alternatives(value):
                    reflection.look_into(self.findings, each, key_node, mode, scope)

    def _watched(self) -> None:
        """Attributes that count on any object, whatever it is."""
        for node in self.gathered.watched:
            if node.attr != _OWNER:
                effects = self.tables.attributes.get(node.attr, ())
                self.findings.add_named(effects, f".{node.attr}", node.lineno)
                continue
            unresolved = self.findings.unresolved
            for member in self.tables.powers_of(BUILTINS):
                if member in unresolved:
                    self.findings.name_member(f"{BUILTINS}.{member}", unresolved[member])
            if isinstance(node.value, ast.Name):
                # A built-in function belongs to the module of built-ins, and leads there.
                name = node.value.id
                if name in imports.BUILT_IN and name not in self.gathered.bound:
                    self.findings.add_any_code(f"{name}.{_OWNER}", node.lineno)

    # ---- what goes beyond one place

    def _unknown_paths(self) -> None:
        """Methods that only path objects have, of an object that came from elsewhere."""
        for name in _OF_PATHS:
            line = self.findings.unresolved.get(name)
            if line is not None:
                effects = self.tables.method(PATH, name)
                self.findings.add_named(effects, f".{name}", line)

    def _handed_on(self) -> None:
        """A module that is handed on as a value may be used for all that it can do."""
        for module, line in sorted(self.findings.escaped.items()):
            powers = self.tables.powers_of(module)
            # Where the file uses what it was handed by a name of the module, that is what it does.
            used = [
                member
                for member in powers
                if member in self.findings.unresolved or f"{module}.{member}" in self.taken
            ]
            for member in used or powers:
                effects = self.tables.listed(f"{module}.{member}") or ()
                self.findings.add_named(effects, f"{short(module)} is handed on", line)

    def _references(self) -> None:
        """A constant that is a protected path counts as read where nothing else was done with it."""
        used = {atom.target for atom, _ in self.findings.powers}
        for node in self.gathered.paths:
            text = node.value
            if isinstance(text, str) and _is_protected(text):
                atoms = path_atoms(reading, text)
                if not used.intersection(atom.target for atom in atoms[:1]):
                    self.findings.add(atoms, f"reference to {text}", node.lineno)


def _is_protected(text: str) -> bool:
    """Whether a text is a path to a protected root, or below one; prose is none."""
    if not text.startswith(_PROTECTED) or text.rstrip("/") in _HARMLESS:
        return False
    is_below = any(text == root or text.startswith(f"{root}/") for root in _PROTECTED)
    return is_below and not any(letter.isspace() for letter in text)
