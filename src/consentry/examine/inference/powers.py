"""What an extraction gives, as permission sets see it: which set opens each power, and what none does.

A mere import of a library does nothing: the powers of what is called count, and those of what is
named. Load limited to a module that is written out is that module. Cryptography is not governed.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from consentry.base.values import dataclass
from consentry.examine.atoms import ANYTHING, NAMELESS, SOMEWHERE, Atom, Extraction, Found
from consentry.examine.extracted import surface_of
from consentry.examine.inference.patterns import called_name, pattern_of
from consentry.examine.inference.tables import tables
from consentry.surface.dimensions import Dimension, LoadLevel
from consentry.surface.pattern import ABSOLUTE_PATH_MARK
from consentry.surface.permission_sets import (
    PermissionSet,
    governed_dimensions,
    least_sets_covering,
)

MOST_POWERS: Final = 1000
"""So many different powers are weighed; code with more is not told apart from any other."""

_IMPORTS: Final = ("import ", "from ")
_PATHS: Final = (Dimension.FS_READ_ROOTS, Dimension.FS_WRITE_ROOTS)
_TMP: Final = "/tmp/"  # noqa: S108 - the run's own


class Kind(StrEnum):
    """What powers are mixed with what others: files, hosts and variables are of different kinds."""

    FILES = "files"
    NETWORK = "network"
    ENVIRONMENT = "environment"
    PROGRAMS = "programs"


_KINDS: Final = {
    Dimension.FS_READ_ROOTS: Kind.FILES,
    Dimension.FS_WRITE_ROOTS: Kind.FILES,
    Dimension.NET_ACCESS: Kind.NETWORK,
    Dimension.ENV_READ: Kind.ENVIRONMENT,
    Dimension.PROC_EXEC: Kind.PROGRAMS,
}


@dataclass(frozen=True, slots=True)
class Power:
    """One power that permission sets speak of."""

    atom: Atom
    kind: Kind
    opened_by: PermissionSet | None
    """The least set that opens it; None where none does that code can be given."""

    is_exact: bool
    """Whether the code says at what it aims."""

    @property
    def is_path_computed(self) -> bool:
        """Whether it aims at a path that only running the code tells."""
        return self.kind is Kind.FILES and not self.is_exact


@dataclass(frozen=True, slots=True)
class Powers:
    """All that was found, in the order of the code, and the words for it."""

    held: tuple[Power, ...] = ()
    is_native: bool = False
    """Whether native libraries are called, which no set opens."""

    is_unknown: bool = False
    """Whether something may do anything: code that is made, a package that no table knows."""

    patterns: frozenset[str] = frozenset()


def powers_of(extraction: Extraction, harmless: frozenset[str] = frozenset()) -> Powers:
    """What of an extraction the sets govern, and what could be anything; harmless paths are none."""
    held: dict[Atom, Power] = {}
    patterns: set[str] = set()
    is_native, is_unknown = False, False
    concrete = _places_of_paths(extraction.found)
    for found in extraction.found:
        if _is_idle(found, concrete) or found.atom.target in harmless:
            continue
        name = called_name(found.reason)
        dimension = found.atom.dimension
        if dimension is Dimension.DYNAMIC_CODE_LOAD:
            if _is_one_of(name, tables().ffi):
                is_native = True
                patterns.add("ffi")
            else:
                is_unknown = True
                patterns.add("load:*")
        elif dimension is Dimension.TOOL_CLASSES:
            is_unknown = True
            patterns.add(f"tool:{found.atom.target}")
        else:
            power = _power(found, name)
            held[power.atom] = power
            patterns.add(pattern_of(power.atom))
        if name is not None:
            patterns.add(name)
        if len(held) > MOST_POWERS:
            is_unknown = True
            break
    strangers = set(_strangers(extraction))
    return Powers(
        tuple(held.values()),
        is_native,
        is_unknown or bool(strangers),
        frozenset(patterns | strangers),
    )


def _power(found: Found, name: str | None) -> Power:
    atom = found.atom
    is_exact = _is_exact(found)
    if atom.target == SOMEWHERE and _is_one_of(name, tables().temporary):
        atom, is_exact = Atom(atom.dimension, atom.operation, _TMP), True
    sets = least_sets_covering(surface_of((atom,)), PermissionSet.MINIMAL)
    return Power(atom, _KINDS[atom.dimension], sets[0] if sets else None, is_exact)


def _is_exact(found: Found) -> bool:
    target = found.atom.target
    if found.atom.dimension not in _PATHS:
        return target not in (NAMELESS, ANYTHING)
    # A folder is what is left of a path that ends in something computed, unless it is written out.
    is_written_out = any(f"{target}{quote}" in found.reason for quote in "'\"`")
    return not target.endswith("/") or target == _TMP or is_written_out


def _is_idle(found: Found, concrete: frozenset[tuple[Dimension, int, str]]) -> bool:
    """Whether it adds nothing to what the other powers say, or nothing that a set governs."""
    atom = found.atom
    if atom.dimension is Dimension.DYNAMIC_CODE_LOAD:
        return atom.target != LoadLevel.ANY
    if atom.dimension is Dimension.TOOL_CLASSES:
        return False
    if atom.dimension not in governed_dimensions():
        return True
    if atom.target == ABSOLUTE_PATH_MARK:
        return (atom.dimension, found.line, found.reason) in concrete
    return atom.target == NAMELESS and found.reason.startswith(_IMPORTS)


def _places_of_paths(found: tuple[Found, ...]) -> frozenset[tuple[Dimension, int, str]]:
    """Where a path is that has a mark beside it, which says no more than the path itself."""
    return frozenset(
        (each.atom.dimension, each.line, each.reason)
        for each in found
        if each.atom.target.startswith(("/", "~"))
    )


def _is_one_of(name: str | None, prefixes: tuple[str, ...]) -> bool:
    return name is not None and any(
        name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes
    )


def _strangers(extraction: Extraction) -> Iterator[str]:
    """Packages that no table knows, other files, and what could not be followed."""
    for module in extraction.imports:
        if not module.is_known:
            name = module.module
            yield f"import:{name if name.startswith('.') else '.' * module.level + name}"
    for doubt in extraction.unclassified:
        word, _, rest = doubt.key.partition(" ")
        yield f"{word}:{rest}" if word == "import" else "unread"
