"""Limits at work on real runs: each attack stopped, the same within its limit, and without it.

Every test is done twice: held as this host and this caller can hold it, and by the watcher alone.
Attacks are bounded by themselves, so that they harm nobody where the control was taken away.
"""

import contextlib
import os
import resource
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import pytest

from consentry.base.errors import Refused
from consentry.enforce.cgroups import start_ticks
from consentry.enforce.confinement import Limits
from consentry.enforce.facts import HostView
from consentry.enforce.groupplaces import find_places
from consentry.enforce.holding import HeldLimits, LimitOutcome
from consentry.enforce.limits import LimitMeans, LimitPlan, Mechanism
from consentry.enforce.native.parent import Running
from consentry.enforce.usage import Control
from tests.enforce.boxes import PYTHON, BoxRun, run_in_box
from tests.enforce.manytasks import alone_with_tasks

MIB = 1 << 20
MORE_AT_MOST = 700
_NUMBERS = count()


@dataclass(frozen=True)
class Runner:
    """Runs Python under limits that are held in one way."""

    means: LimitMeans
    folder: Path

    def run(
        self, code: str, limits: Limits, *, without: tuple[Control, ...] = ()
    ) -> tuple[BoxRun, LimitOutcome]:
        """Runs it to its end and shows that its box is gone."""
        plan = LimitPlan.of(limits, self.means).unsafe_without(*without)
        held = HeldLimits(plan, f"holding-{next(_NUMBERS)}")
        seen: list[int] = []

        def note(running: Running) -> None:
            if running.pid is not None:
                seen.append(running.pid)

        try:
            argv = [PYTHON, "-c", textwrap.dedent(code)]
            run = run_in_box(argv, workspace=self.folder, held=held, watch=note)
            ended = run.ended
            seconds = ended.user_seconds + ended.system_seconds
            outcome = held.outcome(ended.status, seconds, ended.peak_kib << 10)
        finally:
            held.close()
        # All that was run is gone; the box's own first process goes when it has cleared up.
        deadline = time.monotonic() + 60
        while Path(f"/proc/{seen[0]}").exists():
            assert time.monotonic() < deadline
            time.sleep(0.005)
        return run, outcome

    def holder(self, control: Control) -> Mechanism:
        """What holds a control here."""
        plan = LimitPlan.of(Limits(), self.means)
        return next(held.mechanism for held in plan.controls if held.control is control)


@pytest.fixture(autouse=True)
def spared_host() -> Iterator[None]:
    """Whatever a test lets loose is bounded by the kernel, for as long as it lasts."""
    before = resource.getrlimit(resource.RLIMIT_NPROC)
    with alone_with_tasks():
        most = MORE_AT_MOST + _tasks_of_this_user()
        most = most if before[1] == resource.RLIM_INFINITY else min(before[1], most)
        resource.setrlimit(resource.RLIMIT_NPROC, (most, before[1]))
        yield
        resource.setrlimit(resource.RLIMIT_NPROC, before)


def _tasks_of_this_user() -> int:
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == os.getuid():
                count += len(list((process / "task").iterdir()))
    return count


@pytest.fixture(params=["as-this-host-can", "watched"])
def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Runner]:
    """Runs under limits, and shows that no group of ours is left behind."""
    view = HostView(uid=os.getuid())
    means = LimitMeans.of(view).proved()
    if request.param == "watched":
        means = replace(means, places=(), counts_box_alone=False)
    if not means.can_watch:
        pytest.skip("this kernel does not list the children of a process")
    yield Runner(means, tmp_path)
    # Another process may have had our number before.
    ours = f"-{os.getpid()}-{start_ticks(os.getpid())}-"
    for place in find_places(view):
        assert not [each for each in place.folder.glob("consentry-*") if ours in each.name]


# It stays until somebody has looked: a watcher sees what is there when it does.
HOG = """
    import time
    held = bytearray(192 << 20)
    time.sleep(2)
    print(len(held))
"""


def test_a_memory_hog_is_stopped(runner: Runner) -> None:
    """It is killed for the limit, and the record says which and how far it came."""
    run, outcome = runner.run(HOG, Limits(memory_bytes=64 * MIB))
    assert (run.ended.status, run.stdout) == (-9, b"")
    assert outcome.exceeded is not None
    assert outcome.exceeded.control is Control.MEMORY
    assert outcome.exceeded.limit == 64 * MIB
    assert outcome.usage.memory_bytes >= 64 * MIB


def test_the_same_memory_is_given_within_the_limit(runner: Runner) -> None:
    """What fits is not stopped, and is measured."""
    run, outcome = runner.run(HOG, Limits(memory_bytes=400 * MIB))
    assert (run.ended.status, outcome.exceeded) == (0, None)
    assert 192 * MIB <= outcome.usage.memory_bytes <= 400 * MIB


def test_without_the_control_the_hog_gets_its_memory(runner: Runner) -> None:
    """Nothing else stops it, so it was this limit that did."""
    limits = Limits(memory_bytes=64 * MIB)
    run, outcome = runner.run(HOG, limits, without=(Control.MEMORY,))
    assert (run.ended.status, outcome.exceeded) == (0, None)


@pytest.mark.parametrize(
    "hog",
    [
        """
        import os, time
        for _ in range(4):
            if os.fork() == 0:
                held = bytearray(40 << 20)
                time.sleep(20)
        time.sleep(20)
        """,
        """
        import mmap, time
        held = mmap.mmap(-1, 160 << 20)
        for _ in range(160):
            held.write(bytes(1 << 20))
        time.sleep(20)
        """,
        """
        held = bytearray(160 << 20)
        import ctypes, time
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
        time.sleep(20)
        """,
        """
        import time
        with open("/tmp/large", "wb") as large:
            for _ in range(160):
                large.write(bytes(1 << 20))
        with open("large", "wb") as large:
            for _ in range(160):
                large.write(bytes(1 << 20))
        time.sleep(20)
        """,
        """
        import time
        with open("/tmp/large", "wb") as large:
            for _ in range(160):
                large.write(bytes(1 << 20))
        time.sleep(20)
        """,
        """
        import os, time
        for folder in ("/home/user", "/dev/shm"):
            with open(f"{folder}/large", "wb") as large:
                for _ in range(80):
                    large.write(bytes(1 << 20))
        time.sleep(20)
        """,
    ],
    ids=["of-four-processes", "shared", "unreadable", "in-files", "in-tmp", "in-own-folders"],
)
def test_memory_counts_wherever_it_is_held(runner: Runner, hog: str) -> None:
    """Spread over processes, shared, in a process nobody may read, or as files kept in memory."""
    run, outcome = runner.run(hog, Limits(memory_bytes=100 * MIB))
    assert outcome.exceeded is not None
    assert outcome.exceeded.control is Control.MEMORY
    assert run.ended.status != 0


def test_memory_that_children_share_is_counted_once(runner: Runner) -> None:
    """Ten copies of one process that change nothing of it do not count ten times."""
    code = """
        import os, time
        held = bytearray(40 << 20)
        for _ in range(9):
            if os.fork() == 0:
                time.sleep(0.3)
                os._exit(0)
        time.sleep(0.3)
    """
    run, outcome = runner.run(code, Limits(memory_bytes=160 * MIB))
    assert (run.ended.status, outcome.exceeded) == (0, None)


# Two to the power of nine processes, for five seconds: no more, should nothing stop it.
BOMB = """
    import os, time
    over = time.monotonic() + 5
    for _ in range(9):
        try:
            os.fork()
        except OSError:
            pass
    while time.monotonic() < over:
        pass
"""


def test_a_fork_bomb_is_contained(runner: Runner) -> None:
    """It never has more processes than it may, is ended, and nothing of it is left."""
    run, outcome = runner.run(BOMB, Limits(processes=40, cpu_seconds=1))
    assert run.ended.status == -9
    assert outcome.exceeded is not None
    if runner.holder(Control.PROCESSES) is Mechanism.WATCHER:
        assert outcome.exceeded.control in (Control.PROCESSES, Control.CPU)
    else:
        assert outcome.exceeded.control is Control.CPU
        assert outcome.usage.processes <= 40


CHILDREN = """
    import os, sys, time
    made = 0
    for _ in range(60):
        try:
            child = os.fork()
        except BlockingIOError:
            break
        if child == 0:
            time.sleep(0.4)
            os._exit(0)
        made += 1
    print(made, flush=True)
    time.sleep(0.2)
"""


def test_as_many_processes_as_allowed_and_no_more(runner: Runner) -> None:
    """The last one is refused, or the run is ended for it, where only the watcher counts."""
    run, outcome = runner.run(CHILDREN, Limits(processes=40))
    if runner.holder(Control.PROCESSES) is Mechanism.WATCHER:
        assert outcome.exceeded is not None
        assert outcome.exceeded.control is Control.PROCESSES
    else:
        assert (run.stdout, outcome.exceeded) == (b"39\n", None)


def test_processes_within_the_limit_are_made(runner: Runner) -> None:
    """The program itself and sixty children are sixty-one."""
    run, outcome = runner.run(CHILDREN, Limits(processes=61))
    assert (run.stdout, run.ended.status, outcome.exceeded) == (b"60\n", 0, None)


def test_without_the_control_the_children_are_made(runner: Runner) -> None:
    """Nothing else counts processes."""
    run, outcome = runner.run(CHILDREN, Limits(processes=40), without=(Control.PROCESSES,))
    assert (run.stdout, run.ended.status, outcome.exceeded) == (b"60\n", 0, None)


SPIN = """
    import os, time
    for _ in range(3):
        if os.fork() == 0:
            break
    while time.process_time() < 0.4:
        pass
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
"""


def test_processor_time_is_counted_over_all_processes(runner: Runner) -> None:
    """Four processes of 0.4 s each are stopped at one second; none of them alone comes near it."""
    run, outcome = runner.run(SPIN, Limits(cpu_seconds=1))
    assert run.ended.status == -9
    assert outcome.exceeded is not None
    assert outcome.exceeded.control is Control.CPU
    assert outcome.exceeded.seen >= 1


def test_the_same_work_is_done_within_the_limit(runner: Runner) -> None:
    """And is measured, children and all."""
    run, outcome = runner.run(SPIN, Limits(cpu_seconds=20))
    assert (run.ended.status, outcome.exceeded) == (0, None)
    assert 1.5 <= outcome.usage.cpu_seconds < 20


def test_without_the_control_the_work_is_done(runner: Runner) -> None:
    """Nothing else counts the time."""
    run, outcome = runner.run(SPIN, Limits(cpu_seconds=1), without=(Control.CPU,))
    assert (run.ended.status, outcome.exceeded) == (0, None)


def test_children_that_nobody_waits_for_are_counted(runner: Runner) -> None:
    """A program that ignores the death of its children hides none of their time that was seen."""
    code = """
        import os, signal, time
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for _ in range(8):
            if os.fork() == 0:
                while time.process_time() < 0.3:
                    pass
                os._exit(0)
            try:
                os.wait()
            except ChildProcessError:
                pass
    """
    run, outcome = runner.run(code, Limits(cpu_seconds=1))
    assert run.ended.status == -9
    assert outcome.exceeded is not None
    assert outcome.exceeded.control is Control.CPU


WRITE = """
    import errno
    try:
        with open("large", "wb", buffering=0) as large:
            for _ in range(4):
                large.write(bytes(1 << 20))
    except OSError as problem:
        print(errno.errorcode[problem.errno])
    else:
        print("written")
"""


@pytest.mark.parametrize(
    ("control", "tight", "wide", "error"),
    [
        (Control.FILE, Limits(file_bytes=2 * MIB), Limits(file_bytes=5 * MIB), b"EFBIG\n"),
        (
            Control.WRITTEN,
            Limits(written_bytes=2 * MIB),
            Limits(written_bytes=8 * MIB),
            b"ENOSPC\n",
        ),
    ],
    ids=["one-file", "all-files"],
)
def test_what_is_written_has_a_size(
    runner: Runner, control: Control, tight: Limits, wide: Limits, error: bytes
) -> None:
    """Too large is refused with the error that programs know; less works; so does all without it."""
    assert runner.run(WRITE, tight)[0].stdout == error
    assert runner.run(WRITE, wide)[0].stdout == b"written\n"
    assert runner.run(WRITE, tight, without=(control,))[0].stdout == b"written\n"


SPREAD = """
    import errno
    places = ["large", "/tmp/large", "/home/user/large", "/dev/shm/large"]
    try:
        for place in places:
            with open(place, "wb", buffering=0) as large:
                large.write(bytes(1 << 20))
    except OSError as problem:
        print(errno.errorcode[problem.errno])
    else:
        print("written")
"""


def test_what_is_written_anywhere_has_one_size(runner: Runner) -> None:
    """The workspace, `/tmp`, the home and shared memory share one budget."""
    tight, wide = Limits(written_bytes=3 * MIB), Limits(written_bytes=5 * MIB)
    assert runner.run(SPREAD, tight)[0].stdout == b"ENOSPC\n"
    assert runner.run(SPREAD, wide)[0].stdout == b"written\n"
    assert runner.run(SPREAD, tight, without=(Control.WRITTEN,))[0].stdout == b"written\n"


def test_a_file_in_the_runs_own_folder_has_the_size_of_any(runner: Runner) -> None:
    """The limit on one file holds there, too."""
    code = WRITE.replace('"large"', '"/tmp/large"')
    assert runner.run(code, Limits(file_bytes=2 * MIB))[0].stdout == b"EFBIG\n"
    assert runner.run(code, Limits(file_bytes=5 * MIB))[0].stdout == b"written\n"


def test_descriptors_run_out_for_the_program_only(runner: Runner) -> None:
    """It gets the usual error at the usual number, and more only without the control."""
    code = """
        import errno, os
        kept = []
        try:
            while len(kept) < 4500:
                kept.append(os.open("/dev/null", os.O_RDONLY))
        except OSError as problem:
            print(errno.errorcode[problem.errno])
    """
    assert runner.run(code, Limits())[0].stdout == b"EMFILE\n"
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 4600:
        run, _ = runner.run(code, Limits(), without=(Control.DESCRIPTORS,))
        assert run.stdout == b""


def test_limits_cannot_be_raised_from_within(runner: Runner) -> None:
    """Neither those of the program nor the chance to be spared when memory is short."""
    code = """
        import resource
        for which in (resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE):
            try:
                resource.setrlimit(which, (1 << 40, 1 << 40))
            except (ValueError, OSError):
                print("refused")
        try:
            open("/proc/self/oom_score_adj", "w").write("-500")
        except OSError:
            print("refused")
    """
    run, _ = runner.run(code, Limits(file_bytes=MIB, cpu_seconds=5))
    assert run.stdout == b"refused\n" * 4


def test_a_signal_of_a_limit_is_told_as_that_limit(runner: Runner) -> None:
    """A program that the kernel ends for a file too large was stopped for that limit."""
    plan = LimitPlan.of(Limits(file_bytes=MIB), runner.means)
    held = HeldLimits(plan, f"holding-{next(_NUMBERS)}")
    try:
        outcome = held.outcome(-25, 0.0)
        assert outcome.exceeded is not None
        assert outcome.exceeded.control is Control.FILE
        assert outcome.exceeded.to_json() == {
            "control": "file_bytes",
            "limit": MIB,
            "seen": MIB,
        }
    finally:
        held.close()


def test_what_cannot_be_held_is_not_begun() -> None:
    """A limit that was asked for and that nothing holds stops everything before it starts."""
    means = LimitMeans(places=(), can_watch=False, counts_box_alone=False, memory_bytes=None)
    plan = LimitPlan.of(Limits(memory_bytes=64 * MIB), means)
    with pytest.raises(Refused, match="memory_bytes: no control group"):
        HeldLimits(plan, "never")
