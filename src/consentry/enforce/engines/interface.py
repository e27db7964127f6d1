"""What every engine does: show what it enforces here, compile a confinement, launch it.

`compile` raises `NotEnforceable` with all that the engine lacks for a confinement, and then nothing
runs. `launch` takes a permit that was spent, and nothing else starts a program. What was compiled can
only be launched by the engine that compiled it.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from consentry.base.values import dataclass
from consentry.decide.permit import Permit
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Outcome, Probe
from consentry.enforce.limits import LimitPlan
from consentry.enforce.native.planner import Plan
from consentry.enforce.native.streamends import Io
from consentry.enforce.sealing import SealedFile

if TYPE_CHECKING:
    from consentry.enforce.native.probe import Trial


@dataclass(frozen=True, slots=True)
class Compiled:
    """A confinement as it was compiled for this host; each engine adds what it needs."""

    wanted: Confinement
    plan: Plan
    limits: LimitPlan


class Engine(Protocol):
    """One way to confine a program."""

    @property
    def name(self) -> str:
        """As a configuration names it."""
        ...

    def missing(self) -> str | None:
        """Why it is not on this host at all, told without starting anything; None if it is."""
        ...

    def probe(self) -> Probe:
        """What it enforces on this host, shown by doing it, now or once before."""
        ...

    def try_out(self) -> "Trial":
        """The same, shown now, with the score-card it was made from."""
        ...

    def compile(self, wanted: Confinement) -> Compiled:
        """Its own plan; raises `NotEnforceable` with what it lacks."""
        ...

    def is_current(self, plan: Compiled) -> bool:
        """Whether compiling the same again would give the same."""
        ...

    def launch(
        self,
        plan: Compiled,
        permitted: Callable[[], Permit],
        sealed: Sequence[SealedFile],
        io: Io,
    ) -> Outcome:
        """Runs it to its end, with the very bytes that the permit names.

        Nothing of the program starts before `permitted` has returned, and its permit was found to be
        for this run.
        """
        ...

    def close(self) -> None:
        """Ends what it keeps running."""
        ...
