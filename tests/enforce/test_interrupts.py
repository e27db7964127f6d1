"""Ctrl-C, at whatever line of a run it comes: nothing stays open, and the next run is as any other."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from consentry.enforce import cgroups, groupstock, holding, interrupts, streams
from consentry.enforce.confinement import Confinement
from consentry.enforce.engines import native
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.interrupts import Uninterrupted
from consentry.enforce.native import ending, parent, supervisor
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import ENVIRONMENT, WORKSPACE_AND_TMP, program_of
from tests.enforce.interrupted import Interrupts, open_descriptors

# Those that take something which has to be given back.
MODULES = (
    native, parent, supervisor, ending, holding, groupstock, cgroups, streams, interrupts,
)  # fmt: skip


@pytest.fixture(autouse=True)
def usual_handler() -> Iterator[None]:
    """As in any program that was started from a terminal; whoever runs the tests may have another."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("no interrupt ever arrives in this thread")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def wanted(tmp_path: Path) -> Confinement:
    """The shortest run there is, with a layer."""
    return Confinement(WORKSPACE_AND_TMP, tmp_path, program_of(["true"], tmp_path), ENVIRONMENT)


@pytest.fixture
def at_every_line() -> Interrupts:
    """Of the files that matter."""
    return Interrupts(module.__file__ for module in MODULES)


def _run(engine: NativeEngine, wanted: Confinement) -> int | None:
    """As the product runs it: what it hands out is looked after as well."""
    with Uninterrupted():
        outcome = engine._held_run(engine.compile(wanted), (), Io(keeps=True))
        if outcome.layer is not None:
            os.close(outcome.layer)
    return outcome.exit_code


def _groups(engine: NativeEngine) -> tuple[int, int]:
    """How many starts the stock still waits to hear of, and how many it never will."""
    assert engine._stock is not None
    return engine._stock._starting, engine._stock._unknown


def test_a_run_leaves_nothing_open(wanted: Confinement, at_every_line: Interrupts) -> None:
    """Neither descriptors nor control groups, and the launcher is still the same."""
    with closing(NativeEngine(None, protected_roots(), ahead=1)) as engine:
        for _ in range(3):
            assert _run(engine, wanted) == 0
        launcher, before, groups = engine._parent, open_descriptors(), _groups(engine)
        came = 0
        for line in at_every_line.lines_of(lambda: _run(engine, wanted)):
            came += at_every_line.at(line, lambda: _run(engine, wanted))
            assert (open_descriptors(), _groups(engine)) == (before, groups), line
        assert came > 100
        assert _run(engine, wanted) == 0
        assert engine._parent is launcher
        places = engine._limit_means().places
    # Nor in the kernel's own tree, once the launcher is gone.
    mine = f"-{os.getpid()}-"
    assert not [each for place in places for each in place.folder.glob(f"consentry-*{mine}*")]


def test_the_first_run_leaves_nothing_open(wanted: Confinement, at_every_line: Interrupts) -> None:
    """The launcher is begun in it, and ended with the engine; both may be interrupted."""

    def first() -> None:
        with Uninterrupted(), closing(NativeEngine(None, protected_roots())) as engine:
            _run(engine, wanted)

    seen_elsewhere = set(_second_run_lines(wanted, at_every_line))
    lines = [line for line in at_every_line.lines_of(first) if line not in seen_elsewhere]
    before = open_descriptors()
    assert len(lines) > 10
    for line in lines:
        at_every_line.at(line, first)
        assert open_descriptors() == before, line


def _second_run_lines(wanted: Confinement, at_every_line: Interrupts) -> list[tuple[str, int]]:
    with closing(NativeEngine(None, protected_roots())) as engine:
        _run(engine, wanted)
        return at_every_line.lines_of(lambda: _run(engine, wanted))


def _sent() -> None:
    signal.raise_signal(signal.SIGINT)


def _interrupted(call: Callable[[list[str]], None]) -> list[str]:
    """What was done by a call that was interrupted; the handler is the usual one afterwards."""
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        call(done)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return done


def test_an_interrupt_is_put_off_to_the_end() -> None:
    """And then arrives."""

    def call(done: list[str]) -> None:
        with Uninterrupted():
            _sent()
            done.append("all of it")

    assert _interrupted(call) == ["all of it"]


def test_an_interrupt_is_let_through_while_one_waits() -> None:
    """What was taken is given back, without being interrupted in turn."""

    def call(done: list[str]) -> None:
        with Uninterrupted() as interrupted:
            try:
                with interrupted.let_through():
                    _sent()
                    done.append("not reached")
            finally:
                _sent()
                done.append("given back")

    assert _interrupted(call) == ["given back"]


def test_one_that_came_before_the_wait_ends_it() -> None:
    """It does not begin."""

    def call(done: list[str]) -> None:
        with Uninterrupted() as interrupted:
            _sent()
            with interrupted.let_through():
                done.append("not reached")

    assert _interrupted(call) == []


def test_a_block_in_another_is_a_part_of_it() -> None:
    """It ends nothing, and what it lets through is let through."""

    def call(done: list[str]) -> None:
        with Uninterrupted() as outer:
            with Uninterrupted() as inner:
                assert inner is outer
                _sent()
            done.append("after the inner one")
            with Uninterrupted() as inner, inner.let_through():
                done.append("not reached")

    assert _interrupted(call) == ["after the inner one"]


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_where_nobody_hears_of_it_nothing_is_changed(
    handler: Callable[[], None] | signal.Handlers,
) -> None:
    """Ignored stays ignored, and deadly stays deadly."""
    before = signal.signal(signal.SIGINT, handler)
    try:
        with Uninterrupted() as interrupted, interrupted.let_through():
            assert signal.getsignal(signal.SIGINT) is handler
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_another_thread_changes_nothing() -> None:
    """None ever arrives there."""
    seen = []

    def look() -> None:
        with Uninterrupted() as interrupted, interrupted.let_through():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
