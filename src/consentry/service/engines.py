"""What each engine that is built enforces on this host, each shown by its own probe.

One that is not on this host is named with why, and one whose driver is not in this version is named
and nothing more: finding its program would not mean that anything can run in it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.enforce.engine import Control, Held, Lacking, Probe
from consentry.enforce.engines.ground import EngineGround, leading
from consentry.enforce.engines.interface import Engine
from consentry.enforce.engines.native import NativeEngine
from consentry.enforce.engines.othersystems import why_not_here
from consentry.enforce.engines.registry import FROM_CHEAPEST, made_engine
from consentry.enforce.native.otherways import Way, WayCard
from consentry.enforce.programs import BUILT, DENO, DOCKER, ENGINE_MEANINGS
from consentry.enforce.scorecard import ScoreCard, Verdict
from consentry.service.imagechoice import image_setting
from consentry.service.places import find_workspace
from consentry.service.protection import protected_here
from consentry.service.surroundings import Surroundings, own_home

_NO_BOX: Final = "no box could be made"
_OFTEN_IN_SIGHT: Final = (Path("/srv"), Path("/opt"))
# What the probe compares with what it knows to have happened.
_COMPARED: Final = frozenset({Control.LAYER, Control.FILES_READ, Control.DENIALS})


@dataclass(frozen=True, slots=True)
class TriedEngine:
    """One engine: what it showed, and how the attacks in it went, if any could be made."""

    probe: Probe
    card: ScoreCard | None
    others: tuple[WayCard, ...] = ()
    usual: Way = Way.PRIVATE

    @property
    def cards(self) -> tuple[WayCard, ...]:
        """How the attacks went in every way that was tried, the usual one first."""
        untried = "the image has no Python to make them" if self.probe.is_usable else _NO_BOX
        why = "" if self.card is not None else untried
        way = self.usual if self.probe.mode is None else Way.VISIBLE
        return (WayCard(way, self.card, why), *self.others)

    @property
    def shown(self) -> int:
        """How many of the controls that it holds were put to the test; the others are only set."""
        rows = () if self.card is None else self.card.rows
        tested = {row.control for row in rows if row.verdict is Verdict.BLOCKED} | _COMPARED
        return sum(held.control in tested for held in self.probe.held)


@dataclass(frozen=True, slots=True)
class EnginesReport:
    """Every engine that is here, those that are not with why, and the names of those only known."""

    tried: tuple[TriedEngine, ...]
    missing: tuple[tuple[str, str], ...]
    not_built: tuple[str, ...]

    @property
    def is_any_usable(self) -> bool:
        """Whether anything can run on this host."""
        return any(each.probe.is_usable for each in self.tried)


def try_engines(
    around: Surroundings,
    names: Sequence[str] = (*FROM_CHEAPEST, DENO),
    *,
    in_every_way: bool = False,
    workspace_named: str | None = None,
) -> EnginesReport:
    """Starts a box in each of them, attacks it from inside, and ends it; records nothing."""
    home = own_home(around).path
    path, environ = around.environ.get("PATH", ""), leading(around.environ)
    workspace = _workspace(around, workspace_named)
    ground = EngineGround(
        home,
        protected_here(around),
        path,
        environ=environ,
        workspace=workspace,
        image=image_setting(around),
    )
    tried: list[TriedEngine] = []
    missing: list[tuple[str, str]] = []
    for name in names:
        elsewhere = None if name == DOCKER and ground.image is not None else why_not_here()
        if elsewhere is not None:
            missing.append((name, elsewhere))
            continue
        engine = made_engine(name, ground)
        try:
            why = engine.missing()
            if why is not None:
                missing.append((name, why))
                continue
            near = (each for each in (home, around.cwd) if each is not None)
            folders = (*_OFTEN_IN_SIGHT, *near) if in_every_way else ()
            tried.append(_tried(engine, folders))
        finally:
            engine.close()
    return EnginesReport(
        tried=tuple(tried),
        missing=tuple(missing),
        not_built=tuple(name for name in ENGINE_MEANINGS if name not in BUILT),
    )


def _workspace(around: Surroundings, named: str | None) -> Path | None:
    """The stranger's folder that we are in; none where the folder can be nobody's but the caller's."""
    try:
        return find_workspace(around, named).path
    except UsageProblem:
        return None


def _tried(engine: Engine, folders: Sequence[Path]) -> TriedEngine:
    """With folders in which places can be made, in every way in which it confines a run."""
    trial = engine.try_out()
    if not isinstance(engine, NativeEngine):
        has_layer = any(each.control is Control.LAYER for each in trial.probe.held)
        usual = Way.PRIVATE if has_layer else Way.DIRECT
        return TriedEngine(trial.probe, trial.card, usual=usual)
    others: tuple[WayCard, ...] = ()
    # Where it holds less than it can, there is one way only.
    if folders and trial.card is not None and trial.probe.mode is None:
        others = engine.try_other_ways(folders)
    return TriedEngine(trial.probe, trial.card, others)


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
        "missing": [{"name": name, "why": why} for name, why in report.missing],
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
