"""What is found in one file, and what is noted on the way: modules handed on, attributes of the unknown."""

import ast
from collections.abc import Iterable
from typing import Final

from consentry.examine.atoms import (
    NO_ENDS,
    Atom,
    Ends,
    Extraction,
    Found,
    ModuleImport,
    loading,
)
from consentry.examine.knowledge.bareatoms import bare_atoms
from consentry.examine.knowledge.effects import Effect
from consentry.examine.knowledge.reader import Knowledge
from consentry.examine.python.effects import atoms_of
from consentry.examine.python.gathered import Gathered
from consentry.examine.python.place import Place
from consentry.examine.python.resolve import Resolver
from consentry.examine.python.resolves import BUILTINS
from consentry.examine.python.scopes import Scope
from consentry.examine.python.values import (
    Const,
    Function,
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
from consentry.surface.dimensions import LoadLevel

REFLECTION: Final = frozenset({"builtins.getattr", "inspect.getattr_static"})
_RELIED_ON: Final = (
    *("os.path.", "posixpath.", "base64.", "codecs.", "binascii.", "pathlib.", "typing."),
    *("os.sep", "os.curdir", "os.pardir", "os.devnull", "os.fspath", "os.getcwd"),
)
"""What constants are worked out with: whoever replaces it makes them something else."""
_ANY_CODE: Final = (loading(LoadLevel.ANY),)


class Findings:
    """The powers of one file, each with its reason and the first line that gives it."""

    def __init__(self, tables: Knowledge, gathered: Gathered) -> None:
        self.tables = tables
        self.gathered = gathered
        self.resolver = Resolver(tables, gathered)
        self.powers: dict[tuple[Atom, str], int] = {}
        self.imports: list[ModuleImport] = []
        self.escaped: dict[str, int] = {}
        """Modules with powers that are handed on as values."""
        self.outside: dict[str, int] = {}
        """Names of modules that no table knows: other files of the tree may."""
        self.unresolved: dict[str, int] = {}
        """Attributes of objects that are not known."""
        self._nowhere = Place(self.resolver, gathered.module, None)

    def extraction(self) -> Extraction:
        """All that was found, in the order of lines."""
        found = [Found(atom, line, reason) for (atom, reason), line in self.powers.items()]
        found.sort(key=lambda each: (each.line, each.atom, each.reason))
        return Extraction(tuple(found), (), tuple(self.imports), self._ends())

    def _ends(self) -> Ends:
        exports = [
            (name, each.name)
            for name in sorted(self.gathered.module.names)
            for each in alternatives(self.resolver.lookup(self.gathered.module, name))
            if isinstance(each, Ref) and (each.name.startswith(".") or self._may_matter(each.name))
        ]
        if not exports and not self.outside:
            return NO_ENDS
        return Ends(tuple(exports), tuple(sorted(self.outside.items())))

    def _may_matter(self, name: str) -> bool:
        return not self.tables.is_known(name) or bool(
            self.tables.member(self.tables.canonical(name)) or self.tables.powers_of(name)
        )

    def add(self, atoms: Iterable[Atom], reason: str, line: int) -> None:
        """Adds powers."""
        for atom in atoms:
            key = (atom, reason)
            before = self.powers.get(key)
            if before is None or line < before:
                self.powers[key] = line

    def add_any_code(self, reason: str, line: int) -> None:
        """What a name that is computed may reach counts as any code."""
        self.add(_ANY_CODE, reason, line)

    def add_named(self, effects: Iterable[Effect], reason: str, line: int) -> None:
        """Adds what something gives that is named and not called."""
        self.add(atoms_of(effects, self._nowhere), reason, line)

    def add_called(
        self,
        effects: Iterable[Effect],
        reason: str,
        node: ast.Call,
        scope: Scope,
        owner: Instance | None = None,
    ) -> None:
        """Adds what a call gives."""
        place = Place(self.resolver, scope, node, owner)
        self.add(atoms_of(effects, place), reason, node.lineno)

    def add_import(self, module: str, reason: str, line: int) -> None:
        """Adds what importing a module gives."""
        self.add(bare_atoms(self.tables.imported(module)), reason, line)

    def name(self, value: Value, line: int) -> None:
        """Something is named without being called: whatever it may be counts."""
        for each in alternatives(value):
            if isinstance(each, Ref):
                self.name_member(each.name, line)

    def name_member(self, name: str, line: int) -> None:
        """A member of a module is named, or a module itself."""
        name = self.tables.canonical(name)
        effects = self.tables.member(name)
        if effects:
            self.add_named(effects, short(name), line)
        elif effects is None:
            self.outside.setdefault(name, line)
        elif name in REFLECTION:
            self.add_any_code(f"{short(name)} is handed on", line)
        elif self.tables.is_module(name) and (name == BUILTINS or self.tables.powers_of(name)):
            self.escaped.setdefault(name, line)

    def name_method(self, method: Method, scope: Scope, line: int) -> None:
        """A method of an object that the tables know is named."""
        effects = self.tables.method(method.owner.name, method.name)
        if effects:
            place = Place(self.resolver, scope, None, method.owner)
            self.add(atoms_of(effects, place), f"{method.owner.name}.{method.name}", line)

    def patch(self, name: str, line: int) -> None:
        """Something else is put in place of a member: what others call is then this code."""
        if name.startswith((f"{BUILTINS}.", *_RELIED_ON)):
            self.add_any_code(f"{short(name)} is replaced", line)
        else:
            self.name_member(name, line)

    def may_hold_power(self, value: Value) -> bool:
        """Whether a computed name on it may reach anything: modules with powers, and the unknown."""
        match value:
            case LocalObject() | LocalClass() | Function() | Const() | Items() | Table():
                return False
            case Ref():
                return self._has_power(value.name)
            case Instance():
                return bool(self.tables.member(value.name))
            case Namespace():
                return value.owner is None or self.may_hold_power(value.owner)
        return True

    def _has_power(self, module: str) -> bool:
        if module in ("__main__", BUILTINS) or not self.tables.is_known(module):
            return True
        return bool(
            self.tables.powers_of(module)
            or self.tables.imported(module)
            or self.tables.member(module)
        )


def short(name: str) -> str:
    """A name as people write it: built-in functions without their module."""
    return name.removeprefix(f"{BUILTINS}.")
