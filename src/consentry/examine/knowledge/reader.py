"""Reads the compact tables: what a module, a member of it, or a distribution gives.

A row is found by its name and parsed when it is first asked for. A module is known when it, or a
module above it that is no mere namespace, has a row; what no row knows is answered with None, and
whoever asks must not take that for harmless.
"""

import json
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from consentry.base.canonical import Digest, digest_bytes
from consentry.examine.atoms import Atom
from consentry.examine.knowledge.bareatoms import bare_atoms
from consentry.examine.knowledge.effects import Effect, Power, parse_effect
from consentry.examine.knowledge.tables import (
    ATTRIBUTE,
    DISTRIBUTION,
    MODULE,
    NAMESPACE,
    normalised,
)

TABLE: Final = "knowledge.table"
IDENTITY: Final = "canon://cap_surface/knowledge_v1"
_NO_ROW: Final[dict[str, Any]] = {}
_MOST_TWINS: Final = 8


class Knowledge:
    """The tables; what was asked before is kept."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._lines = dict(
            line.split("\t", 1) for line in content.decode().split("\n") if "\t" in line
        )
        self._rows: dict[str, dict[str, Any] | None] = {}
        self._members: dict[str, tuple[Effect, ...] | None] = {}
        self._class_names: dict[str, frozenset[str]] = {}
        self.attributes = {
            name.removeprefix(f"{ATTRIBUTE} "): tuple(map(parse_effect, json.loads(row)))
            for name, row in self._lines.items()
            if name.startswith(f"{ATTRIBUTE} ")
        }

    @property
    def digest(self) -> Digest:
        """Of the whole file."""
        return digest_bytes(self.content)

    def is_known(self, module: str) -> bool:
        """Whether a row speaks for the module."""
        return any(True for _ in self._rows_over(module))

    def imported(self, module: str) -> tuple[Effect, ...]:
        """What importing it gives: its own row's, and those of the modules above it."""
        texts: dict[str, None] = {}
        for _, row in self._rows_over(self.canonical(module)):
            given = row.get("import")
            if given == []:
                break  # said to give nothing, whatever the modules above it do
            texts.update(dict.fromkeys(given or ()))
        return tuple(map(parse_effect, texts))

    def member(self, qualified: str) -> tuple[Effect, ...] | None:
        """What a member of a module gives, by its dotted name; None where no row speaks of it."""
        try:
            return self._members[qualified]
        except KeyError:
            found = self._found(qualified)
            self._members[qualified] = found
            return found

    def method(self, owner: str, name: str) -> tuple[Effect, ...]:
        """What a method of an object of that class gives; one that is not listed gives nothing."""
        return self.listed(f"{owner}.{name}") or ()

    def listed(self, qualified: str) -> tuple[Effect, ...] | None:
        """What the row of exactly that member says; None where it has none."""
        name = self.canonical(qualified)
        for module, row in self._rows_over(name):
            found = self._listed(row, name[len(module) + 1 :])
            return None if found is None else tuple(map(parse_effect, found))
        return None

    def returned(self, qualified: str) -> str | None:
        """The class of what calling it gives: the one its row names, or itself where it has methods."""
        for effect in self.member(qualified) or ():
            if effect.power is Power.RETURNS and not effect.arguments:
                return effect.constant
        name = self.canonical(qualified)
        for module, row in self._rows_over(name):
            rest = name[len(module) + 1 :]
            if rest and (rest in row.get("same", ()) or rest in self._classes(module, row)):
                return name
        return None

    def powers_of(self, module: str) -> tuple[str, ...]:
        """The names of the members that give something; none for a module without power."""
        row = self._row(self.canonical(module)) or _NO_ROW
        return tuple(name for name, effects in row.get("members", {}).items() if effects)

    def is_module(self, qualified: str) -> bool:
        """Whether the dotted name is that of a module with a row, not of a member."""
        return self._row(self.canonical(qualified)) is not None

    def distribution(self, name: str) -> tuple[Atom, ...] | None:
        """What importing the modules of a distribution gives; None where it is in no table."""
        modules = self.modules_of(name)
        if modules is None:
            return None
        effects: dict[Effect, None] = {}
        for module in modules:
            effects.update(dict.fromkeys(self.imported(module)))
        return tuple(dict.fromkeys(bare_atoms(effects)))

    def modules_of(self, name: str) -> tuple[str, ...] | None:
        """The modules that a distribution installs."""
        line = self._lines.get(f"{DISTRIBUTION} {normalised(name)}")
        return None if line is None else tuple(json.loads(line))

    def _found(self, qualified: str) -> tuple[Effect, ...] | None:
        name = self.canonical(qualified)
        for module, row in self._rows_over(name):
            rest = name[len(module) + 1 :]
            if not rest:
                return ()
            listed = self._listed(row, rest)
            if listed is not None:
                return tuple(map(parse_effect, listed))
            if _is_safe(row.get("safe", ()), rest):
                return ()
            above = self._listed_above(row, rest)
            if above is not None:
                return tuple(map(parse_effect, above))
            if row.get("default"):
                return tuple(map(parse_effect, row["default"]))
            return ()
        return None

    def _listed(self, row: dict[str, Any], rest: str) -> list[str] | None:
        """The row of exactly that member, or of the one it is the same as."""
        found: list[str] | None = row.get("members", _NO_ROW).get(rest)
        if found is not None:
            return found
        first, dot, method = rest.partition(".")
        same = row.get("same", _NO_ROW).get(first)
        return None if same is None else self._listed(row, f"{same}{dot}{method}")

    def _listed_above(self, row: dict[str, Any], rest: str) -> list[str] | None:
        """Whoever names a part of a member that is listed names that member."""
        above, dot, _ = rest.rpartition(".")
        while dot:
            found = self._listed(row, above)
            if found is not None:
                return found
            above, dot, _ = above.rpartition(".")
        return None

    def _classes(self, module: str, row: dict[str, Any]) -> frozenset[str]:
        found = self._class_names.get(module)
        if found is None:
            names = {name.rpartition(".")[0] for name in row.get("members", ()) if "." in name}
            found = self._class_names[module] = frozenset(names)
        return found

    def canonical(self, name: str) -> str:
        """The name in the module that its module is a twin of."""
        for _ in range(_MOST_TWINS):
            module, row = next(self._rows_over(name), ("", _NO_ROW))
            twin = row.get("twin")
            if twin is None:
                break
            name = twin + name[len(module) :]
        return name

    def _rows_over(self, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The rows for it and for what is above it, the longest name first."""
        module = name
        while module:
            row = self._row(module)
            if row is not None and (NAMESPACE not in row or module == name):
                yield module, row
            module = module.rpartition(".")[0]

    def _row(self, module: str) -> dict[str, Any] | None:
        try:
            return self._rows[module]
        except KeyError:
            line = self._lines.get(f"{MODULE} {module}")
            row = None if line is None else json.loads(line)
            self._rows[module] = row
            return row


def _is_safe(patterns: list[str], rest: str) -> bool:
    """Listed as safe, by name or with a `*` at either end; constants are, by their spelling."""
    first, _, _ = rest.partition(".")
    if first.isupper():
        return True
    for pattern in patterns:
        if pattern in (rest, first):
            return True
        if pattern.startswith("*") and first.endswith(pattern[1:]):
            return True
        if pattern.endswith("*") and rest.startswith(pattern[:-1]):
            return True
    return False


@lru_cache(maxsize=1)
def knowledge() -> Knowledge:
    """The tables as shipped."""
    return Knowledge(files("consentry.examine.knowledge").joinpath(TABLE).read_bytes())
