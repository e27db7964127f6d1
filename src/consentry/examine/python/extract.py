"""The powers of Python source: parse, walk, resolve, and look every place up in the tables.

What is named counts, called or not, because what has a name can be called from anywhere. What a name
that is computed may reach counts as any code. A module that is handed on as a value is watched: an
attribute of that name, on an object that is not known, is taken for the module's.
Suppression comments are comments.
"""

import ast
import builtins
from collections.abc import Iterable
from typing import Final

from consentry.base.canonical import digest_bytes
from consentry.examine.atoms import (
    Atom,
    Extraction,
    Found,
    ModuleImport,
    loading,
    reading,
    unclassified,
)
from consentry.examine.constanttargets import path_atoms
from consentry.examine.knowledge.bareatoms import bare_atoms
from consentry.examine.knowledge.effects import Effect, Power
from consentry.examine.knowledge.reader import Knowledge, knowledge
from consentry.examine.python.effects import Place, atoms_of
from consentry.examine.python.resolve import BUILTINS, UNKNOWN, Resolver
from consentry.examine.python.scopes import Scope
from consentry.examine.python.source import parsed
from consentry.examine.python.values import (
    Const,
    ConstMethod,
    Function,
    Getter,
    Instance,
    Items,
    LocalClass,
    LocalObject,
    Method,
    Namespace,
    Ref,
    Table,
    Value,
    alternatives,
)
from consentry.examine.python.walk import CONTAINS, GET, STORE, Walk
from consentry.surface.dimensions import LoadLevel

MOST_NESTED: Final = 3
"""So deep code within code is read: constants given to `exec`."""

_ANY_CODE: Final = loading(LoadLevel.ANY)
_REFLECTION: Final = frozenset({"builtins.getattr", "inspect.getattr_static"})
_GETTERS: Final = frozenset({"operator.attrgetter", "operator.methodcaller"})
_OWNER: Final = "__self__"
_BUILT_IN: Final = frozenset(dir(builtins))
_BY_NAME: Final = "__getattribute__"
_ON_WHOLE: Final = frozenset({"inspect.getmembers", "builtins.setattr", "functools.partial"})
_EXECUTES: Final = frozenset({"builtins.exec", "builtins.eval", "builtins.compile"})
_PROTECTED: Final = ("/etc", "/proc", "/var", "/dev", "~/.ssh")
_HARMLESS: Final = frozenset(
    f"/dev/{name}"
    for name in ("null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout", "stderr")
)
_MODES: Final = {GET: "__getitem__", STORE: "__setitem__", CONTAINS: "__contains__"}
_COMMON_NAMES: Final = frozenset(
    name
    for kind in (str, bytes, list, dict, set)
    for name in dir(kind)
    if not name.startswith("__")
) | {
    *("read", "write", "open", "close", "get", "put", "send", "walk", "stat", "access", "link"),
    *("rename", "run", "call", "connect", "load", "loads", "bind", "listen", "name", "path"),
    *(
        "main",
        "wait",
        "kill",
        "times",
        "nice",
        "truncate",
        "register",
        "exit",
        "modules",
        "Process",
    ),
    *("replace", "remove", "unlink", "mkdir", "touch", "exists", "copy", "move", "glob", "request"),
}


def extract_python(content: bytes, *, depth: int = 0) -> Extraction:
    """All that a file of Python source gives."""
    tree = parsed(content)
    if isinstance(tree, str):
        return unclassified(f"source {digest_bytes(content)}", 1, tree)
    tables = knowledge()
    walk = Walk(tree, (*tables.attributes, _OWNER))
    return _Extractor(tables, walk, depth).extraction()


class _Extractor:
    def __init__(self, tables: Knowledge, walk: Walk, depth: int) -> None:
        self.tables = tables
        self.walk = walk
        self.depth = depth
        self.resolver = Resolver(tables, walk)
        self.found: dict[tuple[Atom, str], int] = {}
        self.nested: list[Extraction] = []
        self.imported: list[ModuleImport] = []
        """Modules that are imported by a name in quotes."""
        self.escaped: dict[str, int] = {}
        """Modules with powers that are handed on as values."""
        self.unresolved: dict[str, int] = {}
        """Attributes of objects that are not known."""

    def extraction(self) -> Extraction:
        imports = self._imports()
        for scope in self.walk.scopes:
            self._calls(scope)
            self._attributes(scope)
            self._subscripts(scope)
            self._bare_names(scope)
        for name, line in self.walk.matched:
            self.unresolved.setdefault(name, line)
        for node in self.walk.watched:
            if node.attr == _OWNER:
                self._owner_of(node)
                continue
            self._put(self.tables.attributes[node.attr], f".{node.attr}", node.lineno)
        self._handed_on()
        self._references()
        found = [Found(atom, line, reason) for (atom, reason), line in self.found.items()]
        found.sort(key=lambda each: (each.line, each.atom, each.reason))
        result = Extraction(tuple(found), (), (*imports, *self.imported))
        for inner in self.nested:
            result |= inner
        return result

    # ---- imports

    def _owner_of(self, node: ast.Attribute) -> None:
        """A built-in function belongs to the module of built-ins, and leads there."""
        base = node.value
        if isinstance(base, ast.Name) and base.id in _BUILT_IN and base.id not in self.walk.bound:
            self._add((_ANY_CODE,), f"{base.id}.{_OWNER}", node.lineno)

    def _imports(self) -> tuple[ModuleImport, ...]:
        imports: list[ModuleImport] = []
        for module, level, names, line in self.walk.imports:
            if level:
                imports.append(ModuleImport(module, level, names, line, is_known=False))
                continue
            reason = f"from {module} import {', '.join(names)}" if names else f"import {module}"
            below = [f"{module}.{name}" for name in names]
            inner = [each for each in below if self.tables.is_module(each)]
            # Whoever takes nothing but modules from a package does not use the package itself.
            for each in inner if len(inner) == len(below) and inner else (module, *inner):
                self._add(bare_atoms(self.tables.imported(each)), reason, line)
            is_known = self.tables.is_known(module) or (
                bool(inner) and all(map(self.tables.is_known, below))
            )
            imports.append(ModuleImport(module, 0, names, line, is_known))
        return tuple(imports)

    # ---- calls

    def _calls(self, scope: Scope) -> None:
        lookup, resolve = self.resolver.lookup, self.resolver.resolve
        for node in scope.calls:
            func = node.func
            if func.__class__ is ast.Name:
                value = lookup(scope, func.id)  # type: ignore[attr-defined]
                if value is None:
                    continue
            elif func.__class__ is ast.Attribute:
                base = func.value  # type: ignore[attr-defined]
                while base.__class__ is ast.Attribute:
                    base = base.value
                if base.__class__ is ast.Name and lookup(scope, base.id) is None:
                    self.unresolved.setdefault(func.attr, node.lineno)  # type: ignore[attr-defined]
                    continue
                value = resolve(func, scope)
                if value is None:
                    self.unresolved.setdefault(func.attr, node.lineno)  # type: ignore[attr-defined]
                    if func.attr == _BY_NAME:  # type: ignore[attr-defined]
                        self._reflects(node, scope)
                    continue
            else:
                value = resolve(func, scope)
            for each in alternatives(value):
                self._called(each, node, scope)

    def _called(self, value: Value, node: ast.Call, scope: Scope) -> None:
        match value:
            case Ref():
                name = self.tables.canonical(value.name)
                if name in _REFLECTION:
                    self._reflects(node, scope)
                elif name in _GETTERS:
                    self._gets(node, scope)
                else:
                    self._used(name, node, scope)
            case Method():
                effects = self.tables.method(value.owner.name, value.name)
                place = Place(self.resolver, scope, node, value.owner)
                self._add(
                    atoms_of(effects, place), f"{value.owner.name}.{value.name}()", node.lineno
                )
            case ConstMethod() if isinstance(value.owner, Namespace):
                self._namespace_asked(value, value.owner, node, scope)
            case ConstMethod() if value.name in ("format", "format_map"):
                self._formats(value, node)
            case Getter() if node.args:
                owner = self.resolver.resolve(node.args[0], scope)
                for each in alternatives(self.resolver.got(value, owner)):
                    if isinstance(each, Ref):
                        self._named(each.name, node.lineno)

    def _namespace_asked(
        self, method: ConstMethod, owner: Namespace, node: ast.Call, scope: Scope
    ) -> None:
        """`vars(os).get("system")` is that member; to go through all of them is to reach any."""
        if method.name in ("get", "pop", "setdefault", "__getitem__") and node.args:
            self._looked_into(owner, node.args[0], GET, scope)
        elif method.name not in ("keys", "__contains__", "clear") and self._may_hold_power(owner):
            self._add((_ANY_CODE,), "a namespace as a whole", node.lineno)

    def _used(self, name: str, node: ast.Call, scope: Scope) -> None:
        effects = self.tables.member(name)
        if effects:
            place = Place(self.resolver, scope, node)
            self._add(atoms_of(effects, place), f"{_short(name)}()", node.lineno)
            self._import_by_name(effects, node, scope)
        if name in _ON_WHOLE and node.args:
            self._reaches_whole(name, node, scope)
        if name in _EXECUTES and node.args:
            self._read_inner(node, scope)
        if name.endswith(".__getattribute__") and node.args:
            if self.resolver.constant(node.args[-1], scope) is UNKNOWN:
                self._add((_ANY_CODE,), f"{_short(name)}()", node.lineno)

    def _import_by_name(self, effects: Iterable[Effect], node: ast.Call, scope: Scope) -> None:
        """A module that is imported by a name in quotes is imported all the same."""
        for effect in effects:
            if effect.power is Power.RETURNS and effect.arguments:
                place = Place(self.resolver, scope, node)
                _, value = place.given(effect.arguments[0])
                for each in alternatives(value):
                    if isinstance(each, Const) and isinstance(each.value, str) and each.value:
                        self._imported(each.value, node.lineno)

    def _imported(self, module: str, line: int) -> None:
        if module.startswith(".") or not module.replace(".", "_").isidentifier():
            return
        self._add(bare_atoms(self.tables.imported(module)), f"import of {module} by name", line)
        is_known = self.tables.is_known(module)
        self.imported.append(ModuleImport(module, 0, (), line, is_known))

    def _reaches_whole(self, name: str, node: ast.Call, scope: Scope) -> None:
        """Functions that take an object for all that is in it, or put something into it."""
        if name == "functools.partial":
            function = self.resolver.resolve(node.args[0], scope)
            if isinstance(function, Ref) and function.name in _REFLECTION:
                call = ast.Call(node.args[0], node.args[1:], node.keywords)
                call.lineno = node.lineno
                self._reflects(call, scope)
            return
        owner = self.resolver.resolve(node.args[0], scope)
        for each in alternatives(owner):
            if name == "builtins.setattr":
                if isinstance(each, Ref) and self.tables.canonical(each.name) == BUILTINS:
                    self._add((_ANY_CODE,), "a built-in is replaced", node.lineno)
            elif isinstance(each, Ref) and self._may_hold_power(each):
                self._add((_ANY_CODE,), f"{_short(name)}() of a module with powers", node.lineno)

    def _read_inner(self, node: ast.Call, scope: Scope) -> None:
        """A constant that is executed is read like a file of its own, at the line of the call."""
        code = self.resolver.constant(node.args[0], scope)
        if isinstance(code, str):
            code = code.encode("utf-8", "replace")
        if isinstance(code, bytes) and self.depth < MOST_NESTED:
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

    def _reflects(self, node: ast.Call, scope: Scope) -> None:
        """`getattr`: a constant name is that attribute, any other may be every one."""
        if len(node.args) < 2:  # noqa: PLR2004 - an object and a name
            if any(isinstance(each, ast.Starred) for each in node.args):
                self._add((_ANY_CODE,), "getattr() with a computed name", node.lineno)
            return
        owner = self.resolver.resolve(node.args[0], scope)
        name = self.resolver.constant(node.args[1], scope)
        if isinstance(name, str):
            self._attribute_by_name(owner, name, node.lineno)
        elif any(map(self._may_hold_power, alternatives(owner))):
            self._add((_ANY_CODE,), "getattr() with a computed name", node.lineno)

    def _attribute_by_name(self, owner: Value, name: str, line: int) -> None:
        if name in self.tables.attributes:
            self._put(self.tables.attributes[name], f".{name}", line)
        for each in alternatives(owner):
            if each is None:
                self.unresolved.setdefault(name, line)
            else:
                for reached in alternatives(self.resolver.attribute_of(each, name)):
                    if isinstance(reached, Ref):
                        self._named(reached.name, line)

    def _gets(self, node: ast.Call, scope: Scope) -> None:
        """`attrgetter` and `methodcaller`: as `getattr` on whatever they are given later."""
        for argument in node.args[:1]:
            name = self.resolver.constant(argument, scope)
            if not isinstance(name, str):
                self._add((_ANY_CODE,), "attrgetter() with a computed name", node.lineno)
                continue
            parts = name.split(".")
            for number, part in enumerate(parts):
                self._attribute_by_name(None, part, node.lineno)
                if number:
                    borrowed = self.resolver.attribute_of(Ref("."), parts[number - 1])
                    self._attribute_by_name(borrowed, part, node.lineno)

    def _formats(self, value: ConstMethod, node: ast.Call) -> None:
        """A template that walks to attributes which are watched on any object."""
        text = value.owner.value if isinstance(value.owner, Const) else None
        if isinstance(text, str) and "{" in text and "__" in text:
            for name, effects in self.tables.attributes.items():
                if f".{name}" in text:
                    self._put(effects, f".{name}", node.lineno)

    def _may_hold_power(self, value: Value) -> bool:
        """Whether a computed name on it may reach anything: modules with powers, and what is unknown."""
        match value:
            case LocalObject() | LocalClass() | Function() | Const() | Items() | Table():
                return False
            case Ref():
                module = value.name
                if module == "__main__":
                    return True
                return not self.tables.is_known(module) or bool(
                    module == BUILTINS
                    or self.tables.powers_of(module)
                    or self.tables.imported(module)
                    or self.tables.member(module)
                )
            case Instance():
                return bool(self.tables.member(value.name))
            case Namespace():
                return value.owner is None or self._may_hold_power(value.owner)
        return True

    # ---- names without a call

    def _attributes(self, scope: Scope) -> None:
        lookup, resolve = self.resolver.lookup, self.resolver.resolve
        for node in scope.attributes:
            base = node.value
            while base.__class__ is ast.Attribute:
                base = base.value  # type: ignore[attr-defined]
            if base.__class__ is ast.Name and lookup(scope, base.id) is None:  # type: ignore[attr-defined]
                self.unresolved.setdefault(node.attr, node.lineno)
                continue
            value = resolve(node, scope)
            if value is None:
                self.unresolved.setdefault(node.attr, node.lineno)
                continue
            for each in alternatives(value):
                if isinstance(each, Ref):
                    if node.ctx.__class__ is not ast.Load:
                        self._patched(each.name, node.lineno)
                    else:
                        self._named(each.name, node.lineno)
                elif isinstance(each, Method):
                    self._method_named(each, scope, node.lineno)

    def _method_named(self, method: Method, scope: Scope, line: int) -> None:
        effects = self.tables.method(method.owner.name, method.name)
        place = Place(self.resolver, scope, None, method.owner)
        self._add(atoms_of(effects, place), f"{method.owner.name}.{method.name}", line)

    def _patched(self, name: str, line: int) -> None:
        """Something else is put in place of a member: what others call is then this code."""
        if name.startswith(f"{BUILTINS}."):
            self._add((_ANY_CODE,), f"{_short(name)} is replaced", line)
        else:
            self._named(name, line)

    def _named(self, name: str, line: int) -> None:
        name = self.tables.canonical(name)
        effects = self.tables.member(name)
        if effects:
            place = Place(self.resolver, self.walk.module, None)
            self._add(atoms_of(effects, place), _short(name), line)
        elif name in _REFLECTION:
            self._add((_ANY_CODE,), f"{_short(name)} is handed on", line)
        elif self.tables.is_module(name) and (name == BUILTINS or self.tables.powers_of(name)):
            self.escaped.setdefault(name, line)

    def _bare_names(self, scope: Scope) -> None:
        for name, node in scope.bare.items():
            value = self.resolver.lookup(scope, name)
            if value is None:
                continue
            for each in alternatives(value):
                if isinstance(each, Ref):
                    self._named(each.name, node.lineno)

    def _subscripts(self, scope: Scope) -> None:
        for value_node, key_node, mode in scope.subscripts:
            if value_node.__class__ is ast.Name:
                value = self.resolver.lookup(scope, value_node.id)  # type: ignore[attr-defined]
            else:
                value = self.resolver.resolve(value_node, scope)
            if value is not None:
                for each in alternatives(value):
                    self._looked_into(each, key_node, mode, scope)

    def _looked_into(self, value: Value, key_node: ast.expr, mode: int, scope: Scope) -> None:
        line = key_node.lineno
        match value:
            case Ref():
                self._member_by_key(value, key_node, mode, scope)
            case Namespace() if mode == GET:
                key = self.resolver.constant(key_node, scope)
                if isinstance(key, str):
                    for each in alternatives(self.resolver.looked_up(value, key)):
                        if isinstance(each, Ref):
                            self._named(each.name, line)
                elif self._may_hold_power(value):
                    self._add((_ANY_CODE,), "a namespace with a computed name", line)
            case Namespace() if mode == STORE and isinstance(value.owner, Ref):
                self._patched(f"{value.owner.name}.*", line)

    def _member_by_key(self, value: Ref, key_node: ast.expr, mode: int, scope: Scope) -> None:
        name, line = self.tables.canonical(value.name), key_node.lineno
        listed = self.tables.listed(f"{name}.{_MODES[mode]}")
        if listed is not None:
            call = ast.Call(key_node, [key_node], [])
            place = Place(self.resolver, scope, call)
            self._add(atoms_of(listed, place), f"{_short(name)}[]", line)
        elif name == BUILTINS:
            key = self.resolver.constant(key_node, scope)
            if mode == STORE or not isinstance(key, str):
                self._add((_ANY_CODE,), "builtins with a computed name", line)
            else:
                self._named(f"{BUILTINS}.{key}", line)
        elif mode != STORE or not name.endswith("environ"):
            self._named(name, line)

    # ---- what goes beyond one place

    def _handed_on(self) -> None:
        for module in sorted(self.escaped):
            for member in self.tables.powers_of(module):
                if member in self.unresolved and member not in _COMMON_NAMES:
                    self._named(f"{module}.{member}", self.unresolved[member])
        if "__dict__" in self.unresolved:
            return

    def _references(self) -> None:
        """A constant that is a protected path counts as read where nothing else was done with it."""
        used = {atom.target for atom, _ in self.found}
        for node in self.walk.paths:
            text: str = node.value
            if not text.startswith(_PROTECTED) or text.rstrip("/") in _HARMLESS:
                continue
            if not any(text == root or text.startswith(f"{root}/") for root in _PROTECTED):
                continue
            if any(letter.isspace() for letter in text):
                continue
            atoms = path_atoms(reading, text)
            if not used.intersection(atom.target for atom in atoms[:1]):
                self._add(atoms, f"reference to {text}", node.lineno)

    def _put(self, effects: Iterable[Effect], reason: str, line: int) -> None:
        place = Place(self.resolver, self.walk.module, None)
        self._add(atoms_of(effects, place), reason, line)

    def _add(self, atoms: Iterable[Atom], reason: str, line: int) -> None:
        for atom in atoms:
            key = (atom, reason)
            before = self.found.get(key)
            if before is None or line < before:
                self.found[key] = line


def _short(name: str) -> str:
    return name.removeprefix(f"{BUILTINS}.")
