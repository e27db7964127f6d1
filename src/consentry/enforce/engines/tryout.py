"""What an engine that is a command really enforces on this host, shown by attacks in a box of it.

The same score-card as the native engine's, in the confinement that such engines can hold: one folder
is written at once, and any program may be started. A control holds when every attack on it was stopped
and what must work did.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from consentry.base.errors import Refused
from consentry.base.values import replace
from consentry.enforce.confinement import Confinement, Limits
from consentry.enforce.engine import Control, Held, Lacking, Probe
from consentry.enforce.native.probe import (
    Launch,
    Trial,
    interpreters,
    last_line,
    launched,
    nothing_held,
    shown_by,
)
from consentry.enforce.scorecard import Ground, ScoreCard
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Writes

# A box that writes at once takes no folder that is a run's own.
_LASTING: Final = Path("/var/tmp")  # noqa: S108 - folders are made there, never guessed


def try_out_direct(engine: str, launch: Launch, lacks: Sequence[Lacking]) -> Trial:
    """Carries out the attacks in a box that `launch` makes; never raises for what a host lacks."""
    try:
        return _tried(engine, launch, lacks)
    except Refused as problem:
        return Trial(nothing_held(engine, problem.message, problem.help_line))
    except OSError as problem:
        help_line = f"make room in {_LASTING}, or the right to write it"
        return Trial(nothing_held(engine, str(problem), help_line))


def _tried(engine: str, launch: Launch, lacks: Sequence[Lacking]) -> Trial:
    said = "there is no interpreter that a box could start"
    for interpreter, prefixes in interpreters():
        with Ground(str(_LASTING)) as ground:
            wanted = direct_confinement(ground.confinement(interpreter, prefixes), lacks)
            outcome, unlimited = launched(launch, wanted)
            unpromised = frozenset(each.control.value for each in (*lacks, *unlimited))
            try:
                card = ScoreCard.of(outcome.stdout, outcome.limit, unpromised)
            except ValueError:
                said = last_line(outcome)
                continue
            shown = list(shown_by(card, ground, outcome, is_written=True))
        held = tuple(each for each in shown if isinstance(each, Held))
        broken = tuple(each for each in shown if isinstance(each, Lacking))
        return Trial(Probe(engine, held, (*broken, *lacks, *unlimited)), card)
    return Trial(nothing_held(engine, f"the probe gave no answer: {said}", ""))


def direct_confinement(wanted: Confinement, lacks: Sequence[Lacking]) -> Confinement:
    """The same as such an engine can hold it: any program, where it cannot tell them apart."""
    surface = wanted.surface
    if any(each.control is Control.PROGRAMS for each in lacks):
        surface = replace(surface, proc_exec=Surface.of(run=Level.ANY).proc_exec)
    return replace(
        wanted,
        surface=surface,
        writes=Writes.DIRECT,
        limits=replace(wanted.limits, written_bytes=Limits().written_bytes),
    )
