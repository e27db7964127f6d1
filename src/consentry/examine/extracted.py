"""Atoms as a surface: what a set of powers, found one by one, comes to in the eight dimensions."""

from collections.abc import Iterable

from consentry.base.errors import BadInput
from consentry.examine.atoms import ANYTHING, NAMELESS, SOMEWHERE, Atom
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.lattice import Surface
from consentry.surface.pattern import Pattern, Vocabulary
from consentry.surface.targets import Target


def surface_of(atoms: Iterable[Atom]) -> Surface:
    """The least surface with all of these powers."""
    targets: dict[Dimension, set[str]] = {}
    for atom in atoms:
        targets.setdefault(atom.dimension, set()).add(atom.target)
    loads = targets.get(Dimension.DYNAMIC_CODE_LOAD, set())
    return Surface.of(
        read=_roots(targets.get(Dimension.FS_READ_ROOTS, set())),
        write=_roots(targets.get(Dimension.FS_WRITE_ROOTS, set())),
        net=_listed(targets.get(Dimension.NET_ACCESS), Dimension.NET_ACCESS),
        run=_listed(targets.get(Dimension.PROC_EXEC), Dimension.PROC_EXEC),
        env=_listed(targets.get(Dimension.ENV_READ), Dimension.ENV_READ),
        load=max(map(LoadLevel, loads), key=lambda level: level.rank, default=LoadLevel.NONE),
        crypto=_listed(targets.get(Dimension.CRYPTO_PRIMITIVES), Dimension.CRYPTO_PRIMITIVES),
        tools=sorted(targets.get(Dimension.TOOL_CLASSES, set())),
    )


def _roots(targets: set[str]) -> list[str]:
    return sorted(each if _is_pattern(each) else SOMEWHERE for each in targets)


def _is_pattern(text: str) -> bool:
    try:
        Pattern.parse(text)
    except BadInput:
        return False
    return True


def _listed(targets: set[str] | None, dimension: Dimension) -> list[str] | Level:
    if targets is None:
        return Level.NONE
    if ANYTHING in targets:
        return Level.ANY
    named = sorted(targets - {NAMELESS})
    if not all(_is_target(each, dimension) for each in named):
        return Level.ANY
    return named


def _is_target(text: str, dimension: Dimension) -> bool:
    try:
        if dimension is Dimension.NET_ACCESS:
            Target.parse(text)
        elif dimension is Dimension.PROC_EXEC:
            Pattern.parse(text, Vocabulary.COMMAND)
        else:
            Pattern.parse(text, Vocabulary.NAME)
    except BadInput:
        return False
    return True
