"""What a change adds and takes away: `after - before`, power by power, each with its evidence.

The difference is taken of surfaces, so that a power which another one already covered is none; it is
then told by the atoms that make it up, with the first place where each stands. What was taken away is
listed with `after` below `before` and never counts against a change.

What rules of plugins add counts on both sides, and what is gained without them is gained as well: a rule
that finds more in the version before must not cover what the change adds.
"""

from collections.abc import Iterator
from typing import Final

from consentry.base.canonical import Json
from consentry.base.values import dataclass
from consentry.examine.atoms import ANYTHING, NAMELESS, Atom
from consentry.examine.extracted import surface_of
from consentry.examine.sides import Doubt, Side, Sited
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.lattice import Surface, standing

_SETS: Final = (Dimension.FS_READ_ROOTS, Dimension.FS_WRITE_ROOTS, Dimension.TOOL_CLASSES)


@dataclass(frozen=True, slots=True)
class Step:
    """One power that was gained or lost, and where."""

    atom: Atom
    before: str | tuple[str, ...]
    after: str | tuple[str, ...]
    reason: str
    file: str
    line: int
    gained: bool

    def to_json(self) -> dict[str, Json]:
        """As the verdict lists it."""
        return {
            "dimension": self.atom.dimension.value,
            "before": _plain(self.before),
            "after": _plain(self.after),
            "reason": self.reason,
            "file": self.file,
            "line": self.line,
        }


@dataclass(frozen=True, slots=True)
class Delta:
    """The two surfaces and what lies between them."""

    before: Surface
    after: Surface
    gained: tuple[Step, ...]
    lost: tuple[Step, ...]
    doubts: tuple[Doubt, ...]
    """What is unclassified after and was not before."""

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions in which something was gained, sorted."""
        return tuple(sorted({step.atom.dimension.value for step in self.gained}))


def delta_between(before: Side, after: Side) -> Delta:
    """What `after` has beyond `before`, and the other way round."""
    was, is_now = surface_of(before.atoms), surface_of(after.atoms)
    known = {each.about.key for each in before.doubts}
    return Delta(
        was,
        is_now,
        tuple(_gained(before, after, was, is_now)),
        tuple(_steps(is_now, was, before, gained=False)),
        tuple(each for each in after.doubts if each.about.key not in known),
    )


def _gained(before: Side, after: Side, was: Surface, is_now: Surface) -> list[Step]:
    found = {step.atom: step for step in _steps(was, is_now, after, gained=True)}
    ours = before.without_plugins, after.without_plugins
    if ours != (before, after):
        lower, higher = (surface_of(side.atoms) for side in ours)
        for step in _steps(lower, higher, ours[1], gained=True):
            found.setdefault(step.atom, step)
    return sorted(found.values(), key=lambda step: _order(step.atom))


def _steps(lower: Surface, higher: Surface, side: Side, *, gained: bool) -> Iterator[Step]:
    """A step for each atom by which `higher` goes beyond `lower`, where it stands first."""
    open_dimensions = {gain.dimension: frozenset(gain.added) for gain in higher.gains_over(lower)}
    first: dict[Atom, Sited] = {}
    for each in side.found:
        first.setdefault(each.found.atom, each)
    for atom in sorted(first, key=_order):
        added = open_dimensions.get(atom.dimension)
        if added is not None and _is_beyond(atom, added, lower, higher):
            yield _step(atom, first[atom], lower, higher, gained=gained)


def _is_beyond(atom: Atom, added: frozenset[str], lower: Surface, higher: Surface) -> bool:
    """Whether this atom is one of those that make the difference."""
    if atom.dimension in _SETS:
        return atom.target in added
    if atom.dimension is Dimension.DYNAMIC_CODE_LOAD:
        return LoadLevel(atom.target).rank > lower.dynamic_code_load.rank
    was, is_now = lower[atom.dimension], higher[atom.dimension]
    if standing(is_now) == Level.ANY.value:
        return atom.target == ANYTHING and standing(was) != Level.ANY.value
    if atom.target == NAMELESS:
        return standing(was) == Level.NONE.value
    return atom.target in added


def _step(atom: Atom, place: Sited, lower: Surface, higher: Surface, *, gained: bool) -> Step:
    if atom.dimension in _SETS:
        less: str | tuple[str, ...] = ()
        more: str | tuple[str, ...] = (atom.target,)
    else:
        less, more = standing(lower[atom.dimension]), standing(higher[atom.dimension])
    found = place.found
    named = atom.dimension is not Dimension.DYNAMIC_CODE_LOAD and atom.target not in (
        NAMELESS,
        ANYTHING,
    )
    reason = f"{found.reason}: {atom.target}" if named else found.reason
    if not gained:
        less, more = more, less
        reason = f"removed: {reason}"
    return Step(atom, less, more, reason, place.file, found.line, gained)


def _order(atom: Atom) -> tuple[int, str]:
    return list(Dimension).index(atom.dimension), atom.target


def _plain(stands: str | tuple[str, ...]) -> Json:
    return stands if isinstance(stands, str) else list(stands)
