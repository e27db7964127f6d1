"""Reads the compact tables: what a module, a member of it, or a distribution gives.

The lines of the file are sorted. A row is found among them by halving and parsed when it is first
asked for, so that a small change pays for the rows that it names and not for the tables. A module is
known when it, or a module above it that is no mere namespace, has a row; what no row knows is answered
with None, and whoever asks must not take that for harmless.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Final

from consentry.base.canonical import Digest, digest_bytes
from consentry.base.ownfiles import own_bytes
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
_MOST_KEPT: Final = 1 << 15
"""Answers that are kept, of each kind: files name members without end."""

Effects = tuple[Effect, ...]
Row = dict[str, Any]


class Knowledge:
    """The tables; what was asked before is kept."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        keep = lru_cache(maxsize=_MOST_KEPT)
        self._row: Callable[[str], Row | None] = keep(self._find_row)
        self._rows: Callable[[str], tuple[tuple[str, Row], ...]] = keep(self._find_rows)
        self.canonical: Callable[[str], str] = keep(self._find_canonical)
        """The name in the module that its module is a twin of."""
        self.member: Callable[[str], Effects | None] = keep(self._find_member)
        """What a member of a module gives, by its dotted name; None where no row speaks of it."""
        self.listed: Callable[[str], Effects | None] = keep(self._find_listed)
        """What the row of exactly that member says; None where it has none."""
        self.returned: Callable[[str], str | None] = keep(self._find_returned)
        """The class of what calling it gives: the one its row names, or itself where it has methods."""
        self.powers_of: Callable[[str], tuple[str, ...]] = keep(self._find_powers)
        """The names of the members that give something; none for a module without power."""
        self._classes: Callable[[str], frozenset[str]] = keep(self._find_classes)
        self.attributes: dict[str, Effects] = dict(self._find_attributes())
        """Names that count on any object."""

    @property
    def digest(self) -> Digest:
        """Of the whole file."""
        return digest_bytes(self.content)

    def is_known(self, module: str) -> bool:
        """Whether a row speaks for the module."""
        return bool(self._rows(module))

    def is_module(self, qualified: str) -> bool:
        """Whether the dotted name is that of a module with a row, not of a member."""
        return self._row(self.canonical(qualified)) is not None

    def imported(self, module: str) -> Effects:
        """What importing it gives: its own row's, and those of the modules above it."""
        texts: dict[str, None] = {}
        for _, row in self._rows(self.canonical(module)):
            given = row.get("import")
            if given == []:
                break  # said to give nothing, whatever the modules above it do
            texts.update(dict.fromkeys(given or ()))
        return tuple(map(parse_effect, texts))

    def method(self, owner: str, name: str) -> Effects:
        """What a method of an object of that class gives; one that is not listed gives nothing."""
        return self.listed(f"{owner}.{name}") or ()

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
        line = self._line(f"{DISTRIBUTION} {normalised(name)}")
        return None if line is None else tuple(json.loads(line))

    # ---- members

    def _find_member(self, qualified: str) -> Effects | None:
        name = self.canonical(qualified)
        for module, row in self._rows(name):
            rest = name[len(module) + 1 :]
            if not rest:
                return ()
            found = _listed(row, rest)
            if found is None and not _is_safe(row.get("safe", ()), rest):
                found = _listed_above(row, rest)
                if found is None:
                    found = row.get("default")
            return tuple(map(parse_effect, found or ()))
        return None

    def _find_listed(self, qualified: str) -> Effects | None:
        name = self.canonical(qualified)
        for module, row in self._rows(name):
            found = _listed(row, name[len(module) + 1 :])
            return None if found is None else tuple(map(parse_effect, found))
        return None

    def _find_returned(self, qualified: str) -> str | None:
        for effect in self.member(qualified) or ():
            if effect.power is Power.RETURNS and not effect.arguments:
                return effect.constant
        name = self.canonical(qualified)
        for module, row in self._rows(name):
            rest = name[len(module) + 1 :]
            if rest and (rest in row.get("same", ()) or rest in self._classes(module)):
                return name
        return None

    def _find_powers(self, module: str) -> tuple[str, ...]:
        row = self._row(self.canonical(module)) or _NO_ROW
        return tuple(name for name, effects in row.get("members", {}).items() if effects)

    def _find_classes(self, module: str) -> frozenset[str]:
        """The classes of a module: what has methods."""
        members = (self._row(module) or _NO_ROW).get("members", ())
        return frozenset(name.rpartition(".")[0] for name in members if "." in name)

    # ---- rows

    def _find_canonical(self, name: str) -> str:
        for _ in range(_MOST_TWINS):
            rows = self._rows(name)
            if not rows or "twin" not in rows[0][1]:
                break
            module, row = rows[0]
            name = row["twin"] + name[len(module) :]
        return name

    def _find_rows(self, name: str) -> tuple[tuple[str, Row], ...]:
        """The rows for it and for what is above it, the longest name first."""
        found: list[tuple[str, Row]] = []
        module = name
        while module:
            row = self._row(module)
            if row is not None and (NAMESPACE not in row or module == name):
                found.append((module, row))
            module = module.rpartition(".")[0]
        return tuple(found)

    def _find_row(self, module: str) -> Row | None:
        line = self._line(f"{MODULE} {module}")
        return None if line is None else json.loads(line)

    # ---- lines

    def _find_attributes(self) -> Iterator[tuple[str, Effects]]:
        """The rows of attributes, which stand first."""
        mark = f"{ATTRIBUTE} ".encode()
        start = 0
        while self.content.startswith(mark, start):
            end = self.content.index(b"\n", start)
            name, _, row = self.content[start + len(mark) : end].decode().partition("\t")
            yield name, tuple(map(parse_effect, json.loads(row)))
            start = end + 1

    def _line(self, key: str) -> bytes | None:
        """What stands behind the key and its tab; the lines are in the order of their bytes."""
        if "\t" in key:
            return None
        content, wanted = self.content, key.encode("utf-8", "surrogatepass") + b"\t"
        low, high = 0, len(content)
        while low < high:
            start = content.rfind(b"\n", low, (low + high) // 2) + 1 or low
            found = content[start : start + len(wanted)]
            if found == wanted:
                return content[start + len(wanted) : content.index(b"\n", start)]
            if found < wanted:
                low = content.index(b"\n", start) + 1
            else:
                high = start
        return None


def _listed(row: Row, rest: str) -> list[str] | None:
    """The row of exactly that member, or of the one it is the same as."""
    members, same = row.get("members", _NO_ROW), row.get("same", _NO_ROW)
    for _ in range(_MOST_TWINS):
        found: list[str] | None = members.get(rest)
        if found is not None:
            return found
        first, dot, method = rest.partition(".")
        if first not in same:
            return None
        rest = f"{same[first]}{dot}{method}"
    return None


def _listed_above(row: Row, rest: str) -> list[str] | None:
    """Whoever names a part of a member that is listed names that member."""
    above, dot, _ = rest.rpartition(".")
    while dot:
        found = _listed(row, above)
        if found is not None:
            return found
        above, dot, _ = above.rpartition(".")
    return None


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
def shipped_knowledge() -> Knowledge:
    """The tables as shipped."""
    return Knowledge(own_bytes("consentry.examine.knowledge", TABLE))


_IN_USE: "ContextVar[Knowledge | None]" = ContextVar("knowledge", default=None)


def knowledge() -> Knowledge:
    """The tables in use: those as shipped, unless others were put in their place."""
    return _IN_USE.get() or shipped_knowledge()


@contextmanager
def used(tables: Knowledge) -> Iterator[None]:
    """In this block, and for this thread alone, these tables are in use."""
    before = _IN_USE.set(tables)
    try:
        yield
    finally:
        _IN_USE.reset(before)
