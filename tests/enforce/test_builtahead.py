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


def _children(engine: NativeEngine) -> list[str]:
    if engine._parent is None:
        return []
    launcher = engine._parent._process.pid
    return Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()


def _until_one_waits(engine: NativeEngine) -> None:
    deadline = time.monotonic() + 30
    while not _children(engine):
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


def test_boxes_ahead_are_of_the_kind_that_is_asked_for(tmp_path: Path) -> None:
    """One that nobody asks for any more makes room for those of another kind."""
    program = program_of(["true"], tmp_path)
    before, after = (
        Confinement(Surface.of(read=["./"], run=runs), tmp_path, program, ENVIRONMENT)
        for runs in (Level.NONE, Level.ANY)
    )
    with closing(NativeEngine(None, protected_roots(), ahead=2)) as engine:

        def waited(wanted: Confinement) -> bool:
            """Whether the box of this run was there before it was asked for."""
            waiting = _children(engine)
            io = Io(keeps=True)
            outcome = engine._held_run(engine.compile(wanted), (), io)
            assert outcome.exit_code == 0
            assert io.supervisor is not None
            return str(io.supervisor.running.pid) in waiting

        assert not waited(before)
        deadline = time.monotonic() + 30
        while not waited(before):
            assert time.monotonic() < deadline
        while not waited(after):
            assert time.monotonic() < deadline
            time.sleep(0.1)
