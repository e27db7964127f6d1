"""The engine for JavaScript and TypeScript: Deno with the flags of the grants, inside the native box.

Two walls. Deno's own stands in the process of the script and refuses by name what its flags do not
open, `run` and `ffi` always; the native box around it holds the same grants by the kernel, for Deno
and for whatever gets past it. What Deno refuses is known from its own words alone, and says so.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, replace
from consentry.decide.permit import Permit
from consentry.enforce.confinement import Confinement
from consentry.enforce.denodenials import HeardDenials, besides, reported_denials
from consentry.enforce.denoflags import CACHE, require_confined
from consentry.enforce.denoprogram import NOT_HERE, deno_of_wheel, find_deno
from consentry.enforce.engine import Control, Held, Lacking, NotEnforceable, Outcome, Probe
from consentry.enforce.engines.interface import Compiled
from consentry.enforce.engines.native import NativeEngine, NativePlan
from consentry.enforce.hops import leads_through
from consentry.enforce.native.probe import Trial
from consentry.enforce.native.streamends import Io
from consentry.enforce.ownership import stranger_over_file
from consentry.enforce.programs import DENO
from consentry.enforce.required import require_nothing_held
from consentry.enforce.sealing import SealedFile
from consentry.enforce.violations import PermissionDenied
from consentry.surface.protected import ProtectedRoots

_ADDED: Final = {
    Control.READS: "deno's --allow-read before it",
    Control.WRITES: "deno's --allow-write before it",
    Control.NO_NETWORK: "deno's --allow-net before it",
    Control.PROGRAMS: "deno's --deny-run before it",
    Control.ENVIRONMENT: "deno's --allow-env before it",
    Control.DENIALS: "what deno itself refuses, as far as it prints it",
}
_ASKED_AT_START: Final = ("/.npmrc", "/sys/devices/system/cpu/online")


@dataclass(frozen=True, slots=True)
class DenoPlan(Compiled):
    """The native box that Deno runs in."""

    box: NativePlan


class DenoEngine:
    """Deno in a box of the native engine, which it keeps."""

    name = DENO

    def __init__(
        self,
        home: Path | None,
        protected: ProtectedRoots,
        *,
        path: str = "",
        ahead: int = 0,
        state: Path | None = None,
    ) -> None:
        """`path` is where `deno` is looked for, `ahead` and `state` as for the native engine."""
        self._path = path
        self._protected = protected
        self._native = NativeEngine(home, protected, ahead=ahead, state=state)

    def missing(self) -> str | None:
        """Why it is not on this host."""
        return NOT_HERE if find_deno(self._path) is None else None

    def probe(self) -> Probe:
        """What the box around it was shown to hold, and what Deno holds before that."""
        return self.try_out().probe

    def try_out(self) -> Trial:
        """The same, with the score-card of that box."""
        absent = self.missing()
        if absent is not None:
            return Trial(Probe(self.name, (), (Lacking(Control.PROGRAMS, absent),)))
        trial = self._native.try_out()
        held = tuple(map(_with_deno, trial.probe.held))
        return replace(trial, probe=replace(trial.probe, engine=self.name, held=held))

    def compile(self, wanted: Confinement) -> DenoPlan:
        """The box; raises for what does not start Deno as it must be started."""
        require_nothing_held(self.name, wanted)
        require_confined(wanted.program.words)
        _require_own(Path(wanted.program.words[0]), wanted.workspace)
        box = self._box(wanted)
        if not box.plan.has_own_tree:
            # The name of its cache would be the host's; below the run's own home it finds a place.
            kept = {name: value for name, value in wanted.environment.items() if name != CACHE}
            box = self._box(replace(wanted, environment=kept))
        return DenoPlan(box.wanted, box.plan, box.limits, box)

    def _box(self, wanted: Confinement) -> NativePlan:
        try:
            return self._native.compile(wanted)
        except NotEnforceable as problem:
            raise NotEnforceable(self.name, problem.lacking) from problem

    def is_current(self, plan: Compiled) -> bool:
        """As the native engine says of the box."""
        return isinstance(plan, DenoPlan) and self._native.is_current(plan.box)

    def launch(
        self,
        plan: Compiled,
        permitted: Callable[[], Permit],
        sealed: Sequence[SealedFile],
        io: Io,
    ) -> Outcome:
        """Runs it as the native engine does, and listens to what it prints about refusals."""
        if not isinstance(plan, DenoPlan):
            raise TypeError(f"compiled by another engine: {type(plan).__name__}")
        heard = HeardDenials()
        io.hears = heard.hear
        outcome = self._native.launch(plan.box, permitted, sealed, io)
        heard.finish()
        folder, workspace = plan.wanted.program.folder, plan.wanted.workspace
        reported = reported_denials(heard, folder, workspace, self._protected)
        known = tuple(_without_the_start(outcome.violations))
        return replace(
            outcome,
            violations=besides(known, reported),
            complete=outcome.complete and heard.is_complete,
            held=tuple(map(_with_deno, outcome.held)),
        )

    def close(self) -> None:
        """Ends the launcher."""
        self._native.close()


def _require_own(deno: Path, workspace: Path) -> None:
    """Raises where a stranger may have put it there: such a program need not obey any flag."""
    if deno == deno_of_wheel():
        return
    stranger = stranger_over_file(deno, os.getuid())
    if leads_through(deno, workspace):
        stranger = f"`{deno}` lies in the workspace, or is reached through it"
    if stranger is not None:
        raise Refused(Code.NOT_ENFORCEABLE, f"{stranger}, so it is not started as Deno")


def _with_deno(held: Held) -> Held:
    """The same control; its truth is that of the box, which holds it whatever Deno does."""
    added = _ADDED.get(held.control)
    return held if added is None else replace(held, mechanism=f"{held.mechanism}; {added}")


def _without_the_start(violations: Sequence[PermissionDenied]) -> Iterator[PermissionDenied]:
    """Deno itself looks for these once when it starts, and does without."""
    for each in violations:
        if not each.resource.endswith(_ASKED_AT_START):
            yield each
        elif each.times > 1:
            yield replace(each, times=each.times - 1)
