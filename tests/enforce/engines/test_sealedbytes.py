"""The bytes that were hashed are the bytes that run, in every engine that can place them.

Containers need a daemon or a store of their own, and show the same in `container/test_runs.py`.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engine import NotEnforceable, Outcome
from consentry.enforce.engines.native import Io
from consentry.enforce.sealing import seal
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from tests.elsewhere import folder_elsewhere
from tests.enforce.boxes import ENVIRONMENT
from tests.enforce.engines.benches import CONTAINERS, NATIVE, engines_here, made

_PLACE_NONE = ("firejail", "nsjail")


@pytest.fixture
def workspace() -> Iterator[Path]:
    """Not below a folder that is a run's own."""
    with folder_elsewhere() as place:
        yield place


@pytest.mark.parametrize("swap", ["replaced", "rewritten"])
@pytest.mark.parametrize("name", [each for each in engines_here() if each not in CONTAINERS])
def test_a_program_swapped_after_the_permit_is_not_the_one_that_runs(
    name: str, swap: str, workspace: Path
) -> None:
    """Replaced by another file or rewritten in place, just before it starts."""
    tool = workspace / "tool"
    tool.write_text("#!/bin/sh\necho first\n")
    tool.chmod(0o755)
    program = Program(tool, (str(tool),), workspace, copies=(tool,))
    surface = Surface.of(read=["./"], write=["/tmp/"], run=Level.ANY)
    wanted = Confinement(surface, workspace, program, ENVIRONMENT)
    with closing(made(name)) as engine:
        if name in _PLACE_NONE:
            with pytest.raises(NotEnforceable):
                engine.compile(wanted)
            return
        sealed = seal(tool)
        plan = engine.compile(wanted)
        outcome = _run(engine, name, plan, sealed, lambda: _swapped(tool, swap))
        sealed.close()
    assert outcome.stdout == b"first\n", outcome.stderr
    assert "second" in tool.read_text()


def _run(engine: Any, name: str, plan: Any, sealed: Any, allowed: Any) -> Outcome:
    run = engine._held_run if name == NATIVE else engine._run
    done: Outcome = run(plan, [sealed], Io(keeps=True), allowed)
    return done


def _swapped(tool: Path, swap: str) -> None:
    if swap == "replaced":
        other = tool.with_name("other")
        other.write_text("#!/bin/sh\necho second\n")
        other.chmod(0o755)
        other.rename(tool)
    else:
        tool.write_text("#!/bin/sh\necho second\n")
