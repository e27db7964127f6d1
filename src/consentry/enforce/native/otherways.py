"""The score-card in the other ways to confine a run: with the host's tree in sight, or writing at once.

The probe tries the way that is usual. These are tried when somebody asks for the attacks, aimed at
files that such a run has in sight; where this user has no place for them, nothing is tried, and
that is said.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from consentry.base.errors import Refused
from consentry.base.values import dataclass, replace
from consentry.enforce.confinement import Confinement, Limits
from consentry.enforce.native.probe import MUST_WORK, Launch, interpreters, launched
from consentry.enforce.roots import is_own
from consentry.enforce.scorecard import Ground, ScoreCard
from consentry.surface.modes import View, Writes
from consentry.surface.pattern import Anchor, Pattern
from consentry.surface.protected import ProtectedRoots

_FOR_OTHERS: Final = 0o005
# Of the system: a box that writes at once takes no folder that is a run's own.
_LASTING: Final = Path("/var/tmp")  # noqa: S108 - folders are made there, never guessed


class Way(StrEnum):
    """A way to confine a run, as the head of a column."""

    PRIVATE = "private"
    VISIBLE = "visible"
    DIRECT = "direct"


@dataclass(frozen=True, slots=True)
class WayCard:
    """How the attacks went in one way; without a card, why there is none."""

    way: Way
    card: ScoreCard | None
    why: str = ""
    is_wrong: bool = False
    """Whether the reason is that the box does not do what it must."""


def try_other_ways(
    launch: Launch, folders: Sequence[Path], protected: ProtectedRoots
) -> tuple[WayCard, ...]:
    """Carries out the attacks in each; `folders` are where a place for them may be made."""
    shown = [each for each in folders if _is_usable(each) and _is_shown(each, protected)]
    return (
        _tried(launch, Way.VISIBLE, _visible, shown),
        _tried(launch, Way.DIRECT, _direct, [_LASTING, *shown], unpromised=frozenset({"written"})),
    )


def _visible(wanted: Confinement) -> Confinement:
    return replace(wanted, view=View.VISIBLE)


def _direct(wanted: Confinement) -> Confinement:
    limits = replace(wanted.limits, written_bytes=Limits().written_bytes)
    return replace(wanted, writes=Writes.DIRECT, limits=limits)


def _tried(
    launch: Launch,
    way: Way,
    change: Callable[[Confinement], Confinement],
    folders: Iterable[Path],
    unpromised: frozenset[str] = frozenset(),
) -> WayCard:
    place = next((each for each in folders if _is_usable(each)), None)
    if place is None:
        return WayCard(way, None, "this user can make no folder that such a run has in sight")
    try:
        with Ground(str(place), for_others=True) as ground:
            return _tried_at(launch, way, change, ground, unpromised)
    except Refused as problem:
        return WayCard(way, None, problem.message)
    except OSError as problem:
        return WayCard(way, None, str(problem))


def _tried_at(
    launch: Launch,
    way: Way,
    change: Callable[[Confinement], Confinement],
    ground: Ground,
    unpromised: frozenset[str],
) -> WayCard:
    for interpreter, prefixes in interpreters():
        outcome, _ = launched(launch, change(ground.confinement(interpreter, prefixes)))
        if outcome.layer is not None:
            os.close(outcome.layer)
        try:
            card = ScoreCard.of(outcome.stdout, outcome.limit, unpromised)
        except ValueError:
            continue
        lacking = [said for name, said in MUST_WORK.items() if not card.works[name]]
        if not lacking and not ground.is_as_it_was(is_written=way is Way.DIRECT):
            lacking = ["what was tried in the box has changed files outside"]
        return WayCard(way, card, *((lacking[0], True) if lacking else ()))
    return WayCard(way, None, "the attacks gave no answer", is_wrong=True)


def _is_shown(path: Path, protected: ProtectedRoots) -> bool:
    """Whether the tree that a run has in sight has this folder in it, and root's run may enter it."""
    names = Path(os.path.realpath(path)).parts[1:]
    if not names or is_own(Path("/", *names)):
        return False
    if protected.over(Pattern.literal(Anchor.ABSOLUTE, names)) is not None:
        return False
    return os.getuid() != 0 or all(
        each.stat().st_mode & _FOR_OTHERS == _FOR_OTHERS for each in (path, *path.parents)
    )


def _is_usable(path: Path) -> bool:
    return path.is_dir() and os.access(path, os.W_OK | os.X_OK)
