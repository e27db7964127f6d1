"""What is found in a script, in the order of its lines, each thing once for a line."""

from collections.abc import Iterable

from consentry.base.values import replace
from consentry.examine.atoms import (
    Atom,
    Extraction,
    Found,
    ModuleImport,
    Unclassified,
    loading,
)
from consentry.surface.dimensions import LoadLevel


class Findings:
    """Collects what one script gives."""

    def __init__(self) -> None:
        self._found: dict[tuple[Atom, int], Found] = {}
        self._unclassified: dict[tuple[str, int], Unclassified] = {}
        self._imports: dict[tuple[str, int], ModuleImport] = {}

    def power(self, atoms: Iterable[Atom], line: int, reason: str) -> None:
        """Adds powers."""
        for atom in atoms:
            self._found.setdefault((atom, line), Found(atom, line, reason))

    def load(self, line: int, reason: str, level: LoadLevel = LoadLevel.ANY) -> None:
        """Adds that data becomes code."""
        self.power((loading(level),), line, reason)

    def unknown(self, key: str, line: int, reason: str) -> None:
        """Adds something that may hold any power."""
        self._unclassified.setdefault((key, line), Unclassified(key, line, reason))

    def script(self, module: str, line: int) -> None:
        """Adds a file of the same tree whose code runs."""
        found = ModuleImport(module, 1, (), line, is_known=False)
        self._imports.setdefault((module, line), found)

    def include(self, part: Extraction, line: int) -> None:
        """Adds what code inside the script gives; its lines are counted from that one."""
        for found in part.found:
            at = found.line + line - 1
            self._found.setdefault((found.atom, at), replace(found, line=at))
        for unclear in part.unclassified:
            at = unclear.line + line - 1
            self._unclassified.setdefault((unclear.key, at), replace(unclear, line=at))
        for each in part.imports:
            at = each.line + line - 1
            self._imports.setdefault((each.module, at), replace(each, line=at))

    def extraction(self) -> Extraction:
        """All of it."""
        return Extraction(
            tuple(sorted(self._found.values(), key=lambda each: (each.line, each.atom))),
            tuple(sorted(self._unclassified.values(), key=lambda each: (each.line, each.key))),
            tuple(sorted(self._imports.values(), key=lambda each: (each.line, each.module))),
        )
