"""No engine but our own holds anything for an answer: a run that wants it is refused, with one code."""

from contextlib import closing
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.registry import FROM_CHEAPEST, made_engine
from consentry.enforce.programs import DENO, NATIVE
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots


@pytest.mark.parametrize("name", [DENO, *(name for name in FROM_CHEAPEST if name != NATIVE)])
def test_an_engine_that_cannot_hold_does_not_compile_it(name: str, tmp_path: Path) -> None:
    """Before anything else is looked at, so that nobody consents to what cannot be."""
    program = Program(Path("/usr/bin/true"), ("true",), tmp_path)
    wanted = Confinement(Surface.of(read=["./"]), tmp_path, program, {}, holds=True)
    engine = made_engine(name, EngineGround(None, protected_roots()))
    with closing(engine), pytest.raises(Refused) as refused:
        engine.compile(wanted)
    assert refused.value.code is Code.HOLD_REFUSED
    assert name in refused.value.message
