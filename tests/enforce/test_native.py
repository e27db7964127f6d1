"""What the native engine does not do yet it refuses, and says so, instead of doing something else."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.enforce.confinement import Confinement, Program, Reads, Rounding, Writes
from consentry.enforce.engine import NotEnforceable
from consentry.enforce.engines.native import NativeEngine
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots


@pytest.fixture
def engine() -> Iterator[NativeEngine]:
    """The engine, of which nothing is started."""
    with closing(NativeEngine(None, protected_roots())) as engine:
        yield engine


@pytest.fixture
def plain(tmp_path: Path) -> Confinement:
    """A confinement that asks for nothing unusual."""
    program = Program(Path("/usr/bin/true"), ("true",), tmp_path)
    return Confinement(Surface.of(read=["./*.txt"]), tmp_path, program, environment={})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"writes": Writes.DIRECT}, "direct writes are not built"),
        ({"reads": Reads.EXACT}, "exact reads are not built"),
        ({"rounding": Rounding.EXACT}, "patterns held exactly are not built"),
        ({"surface": Surface.of(net=Level.ANY)}, "network access needs the egress proxy"),
    ],
)
def test_what_is_not_built_is_refused(
    engine: NativeEngine, plain: Confinement, asked: dict[str, Any], said: str
) -> None:
    """Without it the same confinement compiles."""
    with pytest.raises(NotEnforceable) as raised:
        engine.compile(replace(plain, **asked))
    assert raised.value.code is Code.NOT_ENFORCEABLE
    assert [each.why for each in raised.value.lacking] == [said]
    assert engine.compile(plain).wanted == plain
