"""Boxes that are built ahead: each has what its own run asks for, and every kind its turn."""

import os
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.enforce.confinement import Confinement, Limits
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import ENVIRONMENT, WORKSPACE_AND_TMP, program_of

MIB = 1 << 20
WRITES_TWO = "head -c 2097152 /dev/zero > /tmp/two && echo written"


@pytest.fixture
def engine() -> Iterator[NativeEngine]:
    """One that builds ahead."""
    with closing(NativeEngine(None, protected_roots(), ahead=1)) as engine:
        yield engine


def _until_one_waits(engine: NativeEngine) -> None:
    assert engine._parent is not None
    launcher = engine._parent._process.pid
    children = Path(f"/proc/{launcher}/task/{launcher}/children")
    deadline = time.monotonic() + 30
    while not children.read_text().split():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_each_run_has_its_own_size(engine: NativeEngine, tmp_path: Path) -> None:
    """Small after usual, and usual after small; what waited was built before either was asked."""
    program = program_of(["sh", "-c", WRITES_TWO], tmp_path)
    head = program_of(["head"], tmp_path)
    program = replace(program, startable=(*program.startable, *head.startable))
    usual = Confinement(WORKSPACE_AND_TMP, tmp_path, program, ENVIRONMENT)
    small = replace(usual, limits=Limits(written_bytes=MIB))
    for wanted, said in ((usual, b"written\n"), (small, b""), (usual, b"written\n"), (small, b"")):
        plan = engine.compile(wanted)
        outcome = engine._held_run(plan, (), Io(keeps=True))
        if outcome.layer is not None:
            os.close(outcome.layer)
        assert outcome.stdout == said, outcome.stderr
        _until_one_waits(engine)


def test_boxes_of_many_kinds_share_what_is_made_ahead(tmp_path: Path) -> None:
    """When all control groups have a box that waits, one of another kind gives its up."""
    program = program_of(["true"], tmp_path)
    kinds = [
        Surface.of(read=["./"], write=writes, run=runs)
        for writes in ([], ["/tmp/"])
        for runs in (Level.NONE, Level.ANY)
    ]
    with closing(NativeEngine(None, protected_roots(), ahead=2)) as engine:
        for surface in kinds * 3:
            wanted = Confinement(surface, tmp_path, program, ENVIRONMENT)
            outcome = engine._held_run(engine.compile(wanted), (), Io(keeps=True))
            if outcome.layer is not None:
                os.close(outcome.layer)
            assert outcome.exit_code == 0
            _until_one_waits(engine)
            time.sleep(0.05)  # so that as many wait as there are groups for
