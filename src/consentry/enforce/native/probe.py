"""What the native engine really enforces on this host, shown by doing it.

One box is made as every run's box is made, and the attacks of the score-card are carried out in it.
A control holds when every attack on it was stopped and what must work did; what is reported is
compared with what was done. A control that was not shown to hold is lacking, with the reason.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from consentry.base.errors import Refused
from consentry.base.values import dataclass, replace
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Control, Held, Lacking, NotEnforceable, Outcome, Probe
from consentry.enforce.native.nonamespaces import MODE, NoNamespaces
from consentry.enforce.roots import is_own
from consentry.enforce.scorecard import Ground, ScoreCard, Verdict

Launch: TypeAlias = Callable[[Confinement], Outcome]

_LIMITS: Final = {
    Control.CPU: "cpu_seconds",
    Control.MEMORY: "memory_bytes",
    Control.PROCESSES: "processes",
    Control.FILE_SIZE: "file_bytes",
}
_SYSTEM_PYTHON: Final = Path("/usr/bin/python3")
MUST_WORK: Final = {
    "read-granted": "a granted file cannot be read",
    "write-granted": "a granted folder cannot be written",
    "start-allowed": "the allowed program cannot be started",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """What was shown, and the card it was shown by, if a box could be made."""

    probe: Probe
    card: ScoreCard | None = None


def try_out(engine: str, launch: Launch, without: NoNamespaces | None = None) -> Trial:
    """Carries out the attacks in a box that `launch` makes; never raises for what a host lacks."""
    try:
        return _tried(engine, launch, without)
    except NotEnforceable as problem:
        first = problem.lacking[0]
        return Trial(nothing_held(engine, first.why, first.remedy or problem.help_line))
    except Refused as problem:
        return Trial(nothing_held(engine, str(problem), problem.help_line))
    except OSError as problem:
        return Trial(
            nothing_held(engine, str(problem), "make room in /tmp, or the right to write it")
        )


def try_out_bare(engine: str, launch: Launch, without: NoNamespaces) -> Trial:
    """The same where there are no namespaces: what no run has there is lacking besides."""
    trial = try_out(engine, launch, without)
    probe = trial.probe
    if not probe.is_usable:
        # The way that holds everything was refused first.
        first = probe.lacking[0]
        why = f"{without.why}; without namespaces: {first.why}"
        return replace(trial, probe=nothing_held(engine, why, without.remedy))
    lacking = (*without.lacking, *probe.lacking)
    return replace(trial, probe=replace(probe, lacking=lacking, mode=MODE, because=without.why))


def _tried(engine: str, launch: Launch, without: NoNamespaces | None) -> Trial:
    is_bare = without is not None
    unpromised = frozenset(each.control.value for each in (without.lacking if without else ()))
    said = "there is no interpreter that a box could start"
    for interpreter, prefixes in interpreters():
        with Ground(for_others=is_bare) as ground:
            wanted = ground.confinement(interpreter, prefixes, is_bare=is_bare)
            outcome, unlimited = launched(launch, wanted)
            if outcome.layer is not None:
                os.close(outcome.layer)
            try:
                card = ScoreCard.of(outcome.stdout, outcome.limit, unpromised)
            except ValueError:
                said = last_line(outcome)
                continue
            shown = list(shown_by(card, ground, outcome))
        held = tuple(each for each in shown if isinstance(each, Held))
        lacking = tuple(each for each in shown if isinstance(each, Lacking))
        return Trial(Probe(engine, held, (*lacking, *unlimited)), card)
    return Trial(nothing_held(engine, f"the probe gave no answer: {said}", ""))


def launched(launch: Launch, wanted: Confinement) -> tuple[Outcome, tuple[Lacking, ...]]:
    """With every limit, or else with those that the host can hold."""
    try:
        return launch(wanted), ()
    except NotEnforceable as problem:
        if any(each.control not in _LIMITS for each in problem.lacking):
            raise
        without: dict[str, Any] = {_LIMITS[each.control]: None for each in problem.lacking}
        limits = replace(wanted.limits, **without)
        return launch(replace(wanted, limits=limits)), problem.lacking


def interpreters() -> Iterator[tuple[Path, tuple[Path, ...]]]:
    """The system's, which lies among what every box has; else the one that runs this."""
    if _SYSTEM_PYTHON.exists():
        yield _SYSTEM_PYTHON, ()
    own, prefix = Path(os.path.realpath(sys.executable)), Path(os.path.realpath(sys.base_prefix))
    if not is_own(prefix):
        yield own, (() if own.is_relative_to("/usr") else (prefix,))


def shown_by(
    card: ScoreCard, ground: Ground, outcome: Outcome, *, is_written: bool = False
) -> Iterator[Held | Lacking]:
    """Each claim of a run, held or contradicted; `is_written` is of one that writes at once."""
    broken = [said for name, said in MUST_WORK.items() if not card.works[name]]
    is_as_it_was = ground.is_as_it_was(is_written=is_written)
    for claim in outcome.held:
        why = broken[0] if broken else _contradiction(claim.control, card, ground, outcome)
        if claim.control in (Control.WRITES, Control.LAYER) and not is_as_it_was:
            why = why or "what was written in the box is in the workspace"
        if why is None:
            # How much the probe itself was given says nothing of other runs.
            yield replace(claim, mechanism=claim.mechanism.partition(": ")[0])
        else:
            yield Lacking(claim.control, why, "report this: a box of this version should hold it")


def _contradiction(
    control: Control, card: ScoreCard, ground: Ground, outcome: Outcome
) -> str | None:
    """What was seen that speaks against the claim."""
    for row in card.rows:
        if row.control == control and row.verdict is Verdict.OPEN:
            return f"a program could {row.what}: {row.said}"
    match control:
        case Control.FILES_READ if str(ground.granted) not in outcome.reads:
            return "a file was read, and the observer did not report it"
        case Control.DENIALS if all(
            each.resource != str(ground.hidden) for each in outcome.violations
        ):
            return "reading a file was refused, and the observer did not report it"
        case _:
            return None


def nothing_held(engine: str, why: str, remedy: str | None) -> Probe:
    """Of an engine that can make no box here."""
    return Probe(engine, (), tuple(Lacking(each, why, remedy or "") for each in Control))


def last_line(outcome: Outcome) -> str:
    """What it complained of last."""
    lines = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"it ended by {outcome.ending}"
