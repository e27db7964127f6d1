"""A workspace and an engine, in which programs are given hosts to reach."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from consentry.enforce.confinement import Confinement
from consentry.enforce.egress.ports import proxy_variables
from consentry.enforce.egress.secrets import Secret
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.held import HoldKeeper
from consentry.enforce.violations import Truth
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import View
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import ENVIRONMENT, PYTHON, program_of

EVERYTHING_BY_PROXY = {"no_proxy": "", "NO_PROXY": ""}
"""Variables with which programs ask the proxy for this machine's own names, too."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A workspace, and an engine for it."""

    engine: NativeEngine
    workspace: Path

    def run(
        self,
        words: list[str],
        *net: str,
        env: dict[str, str] | None = None,
        secrets: tuple[Secret, ...] = (),
        view: View = View.PRIVATE,
        writes: tuple[str, ...] = (),
        holds: HoldKeeper | None = None,
    ) -> Outcome:
        """One program that may reach these hosts, and is asked about by `holds` where it may not."""
        surface = Surface.of(
            read=["./"], write=list(writes), run=Level.ANY, net=list(net) or Level.NONE
        )
        is_held = holds is not None
        variables = proxy_variables(surface.net_access, holds=is_held)
        wanted = Confinement(
            surface,
            self.workspace,
            program_of(words, self.workspace),
            {**ENVIRONMENT, **variables, **(env or {})},
            secrets=secrets,
            view=View.VISIBLE if is_held else view,
            holds=is_held,
        )
        io = Io(keeps=True, holds=holds)
        outcome = self.engine._held_run(self.engine.compile(wanted), (), io)
        if outcome.layer is not None:
            os.close(outcome.layer)
        return outcome

    def python(
        self,
        code: str,
        *net: str,
        env: dict[str, str] | None = None,
        secrets: tuple[Secret, ...] = (),
        view: View = View.PRIVATE,
        holds: HoldKeeper | None = None,
    ) -> Outcome:
        """The same with a few lines of Python."""
        words = [PYTHON, "-I", "-c", code]
        return self.run(words, *net, env=env, secrets=secrets, view=view, holds=holds)


@contextmanager
def new_ground() -> Iterator[Ground]:
    """Outside of the run's own folders."""
    engine = NativeEngine(None, protected_roots())
    with TemporaryDirectory(dir=Path.cwd()) as place:
        Path(place).chmod(0o755)
        yield Ground(engine, Path(place))
    engine.close()


def denied(outcome: Outcome) -> list[tuple[str, str, Truth]]:
    """What was refused, why, and who says so."""
    return [(each.resource, each.rule, each.truth) for each in outcome.violations]
