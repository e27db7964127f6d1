"""What the native engine reports of a piece of Python, run in a box as the product runs it."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.surface.lattice import Surface
from consentry.surface.modes import Reads
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import ENVIRONMENT, PYTHON, program_of


def outcome_of(
    code: str,
    workspace: Path,
    *words: str,
    read: Sequence[str] = ("./",),
    write: Sequence[str] = ("/tmp/",),
    reads: Reads = Reads.OBSERVED,
) -> Outcome:
    """The outcome; the code must end well."""
    program = program_of([PYTHON, "-I", "-S", "-c", code, *words], workspace)
    surface = Surface.of(read=list(read), write=list(write))
    wanted = Confinement(surface, workspace, program, ENVIRONMENT, reads=reads)
    with closing(NativeEngine(None, protected_roots())) as engine:
        done = engine._held_run(engine.compile(wanted), (), Io(keeps=True))
    assert done.exit_code == 0, done.stderr
    return done
