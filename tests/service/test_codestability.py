"""Snippets in great numbers: many at once, many in a row, and a worker that dies under one."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest

from consentry.enforce.cgroups import start_ticks
from consentry.enforce.facts import HostView
from consentry.enforce.limits import LimitMeans
from consentry.service.callresults import CodeResult
from consentry.service.library import Library
from consentry.service.surroundings import Surroundings
from tests.service.conftest import MakeAround

AT_ONCE = [12, pytest.param(100, marks=pytest.mark.prove)]
IN_A_ROW = [30, pytest.param(2000, marks=[pytest.mark.prove, pytest.mark.timeout(900)])]


@dataclass(frozen=True, slots=True)
class Caller:
    """A program that uses the library."""

    library: Library
    around: Surroundings

    def run(self, source: str) -> CodeResult:
        """One call."""
        return self.library.run_code(source, self.around)


@pytest.fixture
def caller(around: MakeAround, project: Path) -> Iterator[Caller]:
    """One library, closed when the test is over."""
    (project / "data.txt").write_text("data")
    with closing(Library()) as library:
        yield Caller(library, around(environ={"PATH": "/usr/bin:/bin"}))


@pytest.mark.parametrize("count", AT_ONCE)
def test_many_at_once_each_get_their_own_answer(caller: Caller, count: int) -> None:
    """From as many threads; nobody has another's result, output or files."""

    def one(number: int) -> tuple[object, bytes]:
        source = f"open('/tmp/x', 'x').write('{number}')\nprint({number})\nopen('/tmp/x').read()"
        done = caller.run(source)
        assert done.error is None
        return done.result, done.stdout

    with ThreadPoolExecutor(count) as pool:
        answers = list(pool.map(one, range(count)))
    assert answers == [(str(number), b"%d\n" % number) for number in range(count)]


@pytest.mark.parametrize("count", IN_A_ROW)
def test_many_in_a_row_leave_nothing_behind(caller: Caller, count: int) -> None:
    """Neither processes nor descriptors, mounts, groups or folders, here or in the launcher."""
    for _ in range(5):
        caller.run("open('data.txt').read()")
    before = _settled(_left)
    for _ in range(count):
        assert caller.run("open('data.txt').read()").result == "data"
    _until(lambda: _left() == before)


def test_a_run_whose_worker_is_killed_is_over_and_on_record(caller: Caller) -> None:
    """It ends as killed, with everything it started; the next one has a worker of its own."""
    assert caller.run("1").result == 1
    done: list[CodeResult] = []
    source = "import os, time\nos.fork()\ntime.sleep(300)"
    running = Thread(target=lambda: done.append(caller.run(source)))
    running.start()
    [launcher] = _launchers()
    _until(lambda: len(_below(launcher)) >= _ABOVE_A_RUN + 2)
    alive = _below(launcher)
    for worker in _children(launcher):
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    running.join(30)
    assert [each.status for each in done] == ["killed"]
    assert done[0].record["execution"]["status"] == "killed"  # type: ignore[index, call-overload]
    _until(lambda: not set(alive) & set(_below(launcher)))
    assert caller.run("'next'").result == "next"


# A worker, and as root the process that waits for it.
_ABOVE_A_RUN = 2 if os.getuid() == 0 else 1


def _left() -> dict[str, object]:
    """All that a run could leave, as far as it can be seen from here."""
    [launcher] = _launchers()
    below = _below(launcher)
    return {
        "processes": len(below),
        "descriptors": [_descriptors(pid) for pid in (os.getpid(), launcher)],
        "mounts": [_mounts(pid) for pid in (os.getpid(), launcher, *below[:_ABOVE_A_RUN])],
        "groups": _groups(),
    }


def _groups() -> int:
    """Those of this process, of which a few are kept for the next runs."""
    places = LimitMeans.of(HostView(uid=os.getuid())).places
    names = [name for place in places for name in os.listdir(place.folder)]  # noqa: PTH208
    return sum(
        name.startswith("consentry-") and f"-{os.getpid()}-{start_ticks(os.getpid())}-" in name
        for name in names
    )


def _settled(look: Callable[[], dict[str, object]]) -> dict[str, object]:
    """When it has stayed the same for a while: copies for the next runs are made in the meantime."""
    seen, since = look(), time.monotonic()
    deadline = time.monotonic() + 30
    while time.monotonic() - since < 1:
        time.sleep(0.05)
        if (now := look()) != seen:
            seen, since = now, time.monotonic()
        assert time.monotonic() < deadline
    return seen


def _launchers() -> list[int]:
    return [
        child
        for child in _children(os.getpid())
        if b"native.launcher" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def _below(pid: int) -> list[int]:
    """Those nearest first."""
    children = _children(pid)
    return [*children, *(each for child in children for each in _below(child))]


def _children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def _mounts(pid: int) -> int:
    return len(Path(f"/proc/{pid}/mountinfo").read_bytes().splitlines())


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
