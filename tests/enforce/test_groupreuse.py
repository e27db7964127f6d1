"""A control group that was meant for one run and went to another has the limits of that one only."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.enforce.confinement import Confinement, Limits
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.facts import HostView
from consentry.enforce.groupplaces import find_places
from consentry.enforce.native.copygroups import lift_limits
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import ENVIRONMENT, WORKSPACE_AND_TMP, program_of

MEMORY, PROCESSES = 256 << 20, 20
LIMIT_FILES = ("pids.max", "memory.max", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes")

needs_groups = pytest.mark.skipif(
    not find_places(HostView(uid=os.getuid())), reason="this user can make no control groups"
)


def _waiting(engine: NativeEngine) -> list[int]:
    assert engine._parent is not None
    launcher = engine._parent._process.pid
    words = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    return [int(word) for word in words]


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    except FileNotFoundError:
        return True


def _run(engine: NativeEngine, wanted: Confinement) -> int | None:
    outcome = engine._held_run(engine.compile(wanted), (), Io(keeps=True))
    if outcome.layer is not None:
        os.close(outcome.layer)
    return outcome.exit_code


def _limits_in_stock(engine: NativeEngine) -> set[int]:
    """What is set in the groups that the launcher has for the runs to come."""
    assert engine._stock is not None
    found: set[int] = set()
    for group in engine._stock._handed.values():
        for folder in group._made:
            for name in LIMIT_FILES:
                file = Path(folder, name)
                said = file.read_text().strip() if file.exists() else "max"
                found |= {int(said)} if said != "max" else set()
    return {value for value in found if value <= MEMORY}


@needs_groups
def test_limits_of_a_run_whose_waiting_boxes_were_dead_do_not_stay(tmp_path: Path) -> None:
    """They were set before it showed that nobody was there; the next run has no limits at all."""
    usual = Confinement(WORKSPACE_AND_TMP, tmp_path, program_of(["true"], tmp_path), ENVIRONMENT)
    limited = replace(usual, limits=Limits(memory_bytes=MEMORY, processes=PROCESSES))
    with closing(NativeEngine(None, protected_roots(), ahead=2)) as engine:
        assert _run(engine, usual) == 0
        _until(lambda: len(_waiting(engine)) == 2)
        dead = _waiting(engine)
        for pid in dead:
            os.kill(pid, signal.SIGKILL)
        _until(lambda: all(map(_is_dead, dead)))
        assert _run(engine, limited) == 0
        assert _limits_in_stock(engine) == set()
        assert _run(engine, usual) == 0


def test_limits_are_lifted_in_the_words_of_each_version(tmp_path: Path) -> None:
    """The last that was set goes first; a file that is not there has nothing to be lifted."""
    files = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max", "pids.max")
    for name in files:
        (tmp_path / name).write_text("")
    limits = [(0, name, 7, True) for name in (*files, "memory.swap.max")]
    lift_limits(("group", [f"{tmp_path}/cgroup.procs"]), limits)
    said = {name: (tmp_path / name).read_text() for name in files}
    assert said == {files[0]: "-1", files[1]: "-1", "memory.max": "max", "pids.max": "max"}
    assert not (tmp_path / "memory.swap.max").exists()
    lift_limits(None, limits)
