"""Runs that do not come to start, or end in an unlucky moment, and the runs beside and after them."""

import os
import resource
import select
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from consentry.base.errors import Refused
from consentry.enforce.confinement import Confinement
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.groupstock import GroupStock
from consentry.enforce.holding import HeldLimits
from consentry.surface.modes import Reads
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import ENVIRONMENT, WORKSPACE_AND_TMP, program_of

REFUSED = 12
AT_ONCE, EACH = 4, 12
PATIENCE = 30


@pytest.fixture
def engine() -> Iterator[NativeEngine]:
    """One that builds ahead."""
    with closing(NativeEngine(None, protected_roots(), ahead=2)) as engine:
        yield engine


@pytest.fixture
def wanted(tmp_path: Path) -> Confinement:
    """A program that prints a file."""
    (tmp_path / "file").write_text("content")
    return Confinement(
        WORKSPACE_AND_TMP, tmp_path, program_of(["cat", "file"], tmp_path), ENVIRONMENT
    )


def _printed(engine: NativeEngine, wanted: Confinement) -> bytes:
    outcome = engine._held_run(engine.compile(wanted), (), Io(keeps=True))
    if outcome.layer is not None:
        os.close(outcome.layer)
    return outcome.stdout


def _refuse() -> None:
    raise RuntimeError("there is no permit")


def _processes_named(word: str) -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in place.read_bytes().split(b"\0"):
                found.append(place.parent.name)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def test_refused_runs_cost_the_others_nothing(engine: NativeEngine, wanted: Confinement) -> None:
    """However many boxes were built in vain, the next run has a launcher and a group."""
    plan = engine.compile(wanted)
    assert _printed(engine, wanted) == b"content"
    for _ in range(REFUSED):
        with pytest.raises(RuntimeError, match="no permit"):
            engine._held_run(plan, (), Io(keeps=True), _refuse)
    assert _printed(engine, wanted) == b"content"
    assert engine._stock is not None
    assert len(engine._stock._handed) < REFUSED


def test_runs_with_exact_reads_at_once_hear_their_own_news(
    engine: NativeEngine, wanted: Confinement
) -> None:
    """What one of them closes when it ends is another one's number a moment later."""
    exact = replace(wanted, reads=Reads.EXACT)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        printed = list(threads.map(lambda _: _printed(engine, exact), range(AT_ONCE * EACH)))
    assert printed == [b"content"] * (AT_ONCE * EACH)


def test_a_launcher_without_a_free_descriptor_refuses_and_goes_on(
    engine: NativeEngine, wanted: Confinement
) -> None:
    """It cannot even take the request; when there is room again, it does."""
    assert _printed(engine, wanted) == b"content"
    launcher = engine._launcher()._process.pid
    usual = resource.prlimit(launcher, resource.RLIMIT_NOFILE)
    resource.prlimit(launcher, resource.RLIMIT_NOFILE, (3, usual[1]))
    for _ in range(3):
        with pytest.raises(Refused):
            _printed(engine, wanted)
    resource.prlimit(launcher, resource.RLIMIT_NOFILE, usual)
    assert _printed(engine, wanted) == b"content"


def test_a_box_that_ends_before_its_program_is_there_takes_nobody_along(
    engine: NativeEngine, wanted: Confinement
) -> None:
    """Its end may be heard of before all that it said when it was built."""
    plan = engine.compile(wanted)
    nowhere = replace(wanted, program=replace(wanted.program, folder=Path("/nowhere")))
    for _ in range(REFUSED):
        with pytest.raises(Refused, match="/nowhere"):
            engine._held_run(replace(plan, wanted=nowhere), (), Io(keeps=True))
    assert _printed(engine, wanted) == b"content"


def _wait_for_hangup(control: socket.socket) -> None:
    """A box that was just being built has the launcher's end for a moment longer than it."""
    poll = select.poll()
    poll.register(control, select.POLLHUP)
    assert poll.poll(PATIENCE * 1000), "somebody still has the other end"


def test_a_call_that_cannot_be_made_leaves_nothing_open(
    engine: NativeEngine, wanted: Confinement
) -> None:
    """Where the launcher was ended, the next call has another one."""
    assert _printed(engine, wanted) == b"content"
    before = len(list(Path("/proc/self/fd").iterdir()))
    plan = engine.compile(wanted)
    parent = engine._launcher()
    for _ in range(3):
        ended = engine._launcher()
        os.kill(ended._process.pid, signal.SIGKILL)
        ended._process.wait()
        _wait_for_hangup(ended._control)
        with pytest.raises(Refused), closing(HeldLimits(plan.limits, "run-late")) as held:
            engine._run(ended, plan, (), Io(keeps=True), held, None, _refuse, None)
        assert _printed(engine, wanted) == b"content"
    assert engine._launcher() is not parent
    assert len(list(Path("/proc/self/fd").iterdir())) == before


class _InterruptedControl:
    """A socket that Ctrl-C meets when something was just sent."""

    def __init__(self, real: socket.socket) -> None:
        self._real = real

    def sendmsg(self, *message: Any) -> int:
        self._real.sendmsg(*message)
        raise KeyboardInterrupt


def test_an_interrupted_request_is_not_mixed_up_with_the_next(
    engine: NativeEngine, wanted: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was sent of it was all of it."""
    parent = engine._launcher()
    with monkeypatch.context() as interrupted:
        interrupted.setattr(parent, "_control", _InterruptedControl(parent._control))
        with pytest.raises(KeyboardInterrupt):
            _printed(engine, wanted)
    assert _printed(engine, wanted) == b"content"
    assert engine._launcher() is parent


class _Interrupted(GroupStock):
    """One that Ctrl-C meets while the program runs already."""

    def restock(self) -> None:
        raise KeyboardInterrupt


def test_a_program_does_not_outlive_the_call_that_was_interrupted(
    engine: NativeEngine, tmp_path: Path
) -> None:
    """Just after it was let go, and before anybody stays with it."""
    word = f"971.{os.getpid()}"
    program = program_of(["sleep", word], tmp_path)
    plan = engine.compile(Confinement(WORKSPACE_AND_TMP, tmp_path, program, ENVIRONMENT))
    engine._launcher()
    engine._stock = _Interrupted(engine._limit_means().places, 0)
    with pytest.raises(KeyboardInterrupt):
        engine._held_run(plan, (), Io(keeps=True))
    assert _processes_named(word) == []
