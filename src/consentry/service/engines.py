"""What each engine that is built enforces on this host, each shown by its own probe.

An engine whose driver is not in this version is named and nothing more: finding its program would
not mean that anything can run in it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from consentry.enforce.engine import Control, Held, Lacking, Probe
from consentry.enforce.engines.native import NativeEngine
from consentry.enforce.native.otherways import Way, WayCard
from consentry.enforce.programs import BUILT, ENGINE_MEANINGS
from consentry.enforce.scorecard import ScoreCard, Verdict
from consentry.service.protection import protected_here
from consentry.service.surroundings import Surroundings, own_home

_OFTEN_IN_SIGHT: Final = (Path("/srv"), Path("/opt"))
# What the probe compares with what it knows to have happened.
_COMPARED: Final = frozenset({Control.LAYER, Control.FILES_READ, Control.DENIALS})


@dataclass(frozen=True, slots=True)
class TriedEngine:
    """One engine: what it showed, and how the attacks in it went, if any could be made."""

    probe: Probe
    card: ScoreCard | None
    others: tuple[WayCard, ...] = ()

    @property
    def cards(self) -> tuple[WayCard, ...]:
        """How the attacks went in every way that was tried, the usual one first."""
        why = "" if self.card is not None else "no box could be made"
        way = Way.PRIVATE if self.probe.mode is None else Way.VISIBLE
        return (WayCard(way, self.card, why), *self.others)

    @property
    def shown(self) -> int:
        """How many of the controls that it holds were put to the test; the others are only set."""
        rows = () if self.card is None else self.card.rows
        tested = {row.control for row in rows if row.verdict is Verdict.BLOCKED} | _COMPARED
        return sum(held.control in tested for held in self.probe.held)


@dataclass(frozen=True, slots=True)
class EnginesReport:
    """Every engine that is built, and the names of those that are only known."""

    tried: tuple[TriedEngine, ...]
    not_built: tuple[str, ...]

    @property
    def is_any_usable(self) -> bool:
        """Whether anything can run on this host."""
        return any(each.probe.is_usable for each in self.tried)


def try_engines(around: Surroundings, *, in_every_way: bool = False) -> EnginesReport:
    """Starts a box in each of them, attacks it from inside, and ends it; records nothing."""
    home = own_home(around).path
    engine = NativeEngine(home, protected_here(around))
    others: tuple[WayCard, ...] = ()
    try:
        trial = engine.try_out()
        # Where it holds less than it can, there is one way only.
        if in_every_way and trial.card is not None and trial.probe.mode is None:
            near = (each for each in (home, around.cwd) if each is not None)
            others = engine.try_other_ways((*_OFTEN_IN_SIGHT, *near))
    finally:
        engine.close()
    return EnginesReport(
        tried=(TriedEngine(trial.probe, trial.card, others),),
        not_built=tuple(name for name in ENGINE_MEANINGS if name not in BUILT),
    )


def engines_document(report: EnginesReport) -> dict[str, object]:
    """The report as JSON values, without the two keys that every document begins with."""
    return {
        "engines": [
            {
                "name": each.probe.engine,
                "usable": each.probe.is_usable,
                "mode": each.probe.mode,
                "because": each.probe.because or None,
                "held": [_held(held) for held in each.probe.held],
                "lacking": [_lacking(lacking) for lacking in each.probe.lacking],
                "attested_denials": _attested(each.probe),
            }
            for each in report.tried
        ],
        "not_built": list(report.not_built),
    }


def _attested(probe: Probe) -> dict[str, object]:
    found = probe.attested
    if isinstance(found, Held):
        return {"possible": True, "mechanism": found.mechanism, "why": None}
    return {"possible": False, "mechanism": None, "why": None if found is None else found.why}


def mode_in_words(probe: Probe) -> str | None:
    """That it holds less here than elsewhere, and why, in one line."""
    if probe.mode is None:
        return None
    return (
        f"is in its {probe.mode} mode here, because {probe.because}; it runs what `--view visible` "
        "without folders to be written can be held to, and refuses the rest"
    )


def attested_in_words(probe: Probe) -> str | None:
    """Whether denials can be attested by the kernel here, in one line."""
    match probe.attested:
        case Held(mechanism=mechanism):
            return f"denials can be attested with --view visible --attest: {mechanism}"
        case Lacking(why=why):
            return f"denials cannot be attested here, only observed: {why}"
        case _:
            return None


def _held(held: Held) -> dict[str, object]:
    return {
        "control": held.control.value,
        "mechanism": held.mechanism,
        "truth": held.truth.value,
    }


def _lacking(lacking: Lacking) -> dict[str, object]:
    return {
        "control": lacking.control.value,
        "why": lacking.why,
        "remedy": lacking.remedy or None,
    }
