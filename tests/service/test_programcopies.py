"""What a run starts is what was hashed, also where somebody may rewrite the program meanwhile."""

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.enforce.confinement import Confinement
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.sealing import seal
from consentry.service.binding import BoundWish
from consentry.service.commandline import RunWish, bind_wish
from tests.service.conftest import MakeAround

SOMEBODY = 23456
SAYS = "#!/bin/sh\necho {}\n"


def _program(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SAYS.format(says))
    path.chmod(0o755)
    if os.getuid() == 0:
        # Root's own files only root may change, and root is trusted.
        os.chown(path, SOMEBODY, SOMEBODY)
    return path


@pytest.fixture(params=["in a prefix", "named by --exec"])
def bound(request: pytest.FixtureRequest, around: MakeAround, project: Path) -> BoundWish:
    """A line that starts a program of somebody's: itself, or through another program."""
    here = around(environ={"PATH": "/usr/bin:/bin"})
    if request.param == "in a prefix":
        (project / "prefix/lib").mkdir(parents=True)
        tool = _program(project / "prefix/bin/tool", "HASHED")
        return bind_wish(RunWish((str(tool),)), project, here)
    tool = _program(project / "tool", "HASHED")
    wish = RunWish(("sh", "-c", "./tool"), execute=(str(tool),))
    return bind_wish(wish, project, here)


@pytest.fixture
def engine(bound: BoundWish) -> Iterator[NativeEngine]:
    """The engine that it is run by."""
    with closing(NativeEngine(None, bound.protected)) as engine:
        yield engine


def _run_rewritten(engine: NativeEngine, wanted: Confinement, tool: Path) -> bytes:
    """What is printed when the file is rewritten between hashing and starting."""
    plan = engine.compile(wanted)
    sealed = [seal(path) for path in wanted.program.copies]
    try:
        with tool.open("r+") as file:
            file.write(SAYS.format("EVIL"))
            file.truncate()
        return engine._held_run(plan, sealed, Io(keeps=True)).stdout
    finally:
        for each in sealed:
            each.close()


def _tool(bound: BoundWish) -> Path:
    program = bound.confinement.program
    return next(path for path in program.copies if path.name == "tool")


def test_rewritten_bytes_are_not_run(engine: NativeEngine, bound: BoundWish) -> None:
    """The same file, rewritten in place after it was hashed: what was hashed is what runs."""
    assert _run_rewritten(engine, bound.confinement, _tool(bound)) == b"HASHED\n"


def test_what_was_written_before_is_run(engine: NativeEngine, bound: BoundWish) -> None:
    """Whoever may change the program may do so before the decision."""
    tool = _program(_tool(bound), "CHANGED")
    assert _run_rewritten(engine, bound.confinement, tool) == b"CHANGED\n"


def test_bound_from_where_they_lie_they_would_run(engine: NativeEngine, bound: BoundWish) -> None:
    """Without the copies nothing sees that the bytes are others."""
    program = bound.confinement.program
    open_to_all = replace(program, copies=(), startable=(*program.startable, *program.copies))
    wanted = replace(bound.confinement, program=open_to_all)
    assert _run_rewritten(engine, wanted, _tool(bound)) == b"EVIL\n"


def test_what_only_root_may_change_is_not_copied(around: MakeAround, project: Path) -> None:
    """The system's own programs are known by their hash and their identity."""
    here = around(environ={"PATH": "/usr/bin:/bin"})
    wish = RunWish(("sh", "-c", "true"), execute=("env",))
    assert bind_wish(wish, project, here).confinement.program.copies == ()
