"""Control groups of a run, on a host where we may make them; elsewhere these tests are skipped."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from consentry.enforce.cgroups import RunGroup, start_ticks, sweep
from consentry.enforce.facts import HostView
from consentry.enforce.groupplaces import Holds, Place, Version, find_places
from consentry.enforce.mounts import place_of_group, read_mounts
from consentry.enforce.usage import Usage
from consentry.enforce.violations import Truth

MIB = 1 << 20
_NUMBERS = count()


def first_version_places() -> list[Place]:
    """What version 1 offers here, also where version 2 would be preferred."""
    view = HostView(uid=os.getuid())
    mounts = read_mounts(view) or ()
    places = []
    for name, held in (("memory", Holds.MEMORY), ("pids", Holds.PIDS), ("cpuacct", Holds.TIME)):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if name in controllers.split(","):
                folder = place_of_group(mounts, controllers, path)
                if folder is not None and os.access(folder, os.W_OK):
                    places.append(Place(Path(folder), Version.V1, frozenset({held})))
    return places


@pytest.fixture(params=["best", "first-version"])
def places(request: pytest.FixtureRequest) -> Iterator[list[Place]]:
    """Places that hold memory and processes, and are as they were afterwards."""
    best = list(find_places(HostView(uid=os.getuid())))
    chosen = best if request.param == "best" else first_version_places()
    if not {Holds.MEMORY, Holds.PIDS, Holds.TIME} <= {held for p in chosen for held in p.holds}:
        pytest.skip("no control groups may be made here")
    yield chosen
    # Another process may have had our number before.
    ours = f"-{os.getpid()}-{start_ticks(os.getpid())}-"
    for place in chosen:
        assert not [each for each in place.folder.glob("consentry-*") if ours in each.name]


@contextlib.contextmanager
def group(places: list[Place], **limits: int) -> Iterator[RunGroup]:
    """A group that is gone when the test is over."""
    made = RunGroup(places, f"test-{next(_NUMBERS)}", **limits)
    try:
        yield made
    finally:
        made.kill()
        assert made.remove()


def run_inside(made: RunGroup, code: str) -> "subprocess.Popen[str]":
    """Starts Python that joins first, as the first process of a box does."""
    joining = "import os, sys\nfor door in sys.argv[1:]: open(door, 'w').write('0')\n"
    return subprocess.Popen(
        [sys.executable, "-c", joining + code, *made.doors],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_memory_over_the_limit_is_the_kernels_to_stop(places: list[Place]) -> None:
    """The process is killed, and the group tells that it was and how much it had."""
    with group(places, memory_bytes=64 * MIB) as made:
        inside = run_inside(made, "held = bytearray(192 << 20); print(len(held))")
        assert inside.communicate()[0] == ""
        assert inside.returncode == -signal.SIGKILL
        used = made.usage()
        assert (used.kills, used.memory_truth) == (1, Truth.KERNEL)
        assert 60 * MIB <= used.memory_bytes <= 64 * MIB


def test_memory_within_the_limit_is_given(places: list[Place]) -> None:
    """And counted, though the process is long gone."""
    with group(places, memory_bytes=400 * MIB) as made:
        inside = run_inside(made, "held = bytearray(192 << 20); print(len(held))")
        assert inside.communicate()[0] == f"{192 * MIB}\n"
        used = made.usage()
        assert (used.kills, used.memory_truth) == (0, Truth.KERNEL)
        assert 192 * MIB <= used.memory_bytes <= 400 * MIB


def test_processes_are_refused_over_the_limit(places: list[Place]) -> None:
    """The first process is the engine's own and does not count."""
    code = (
        "import time\nmade = 0\ntry:\n"
        "  while made < 50:\n    if os.fork() == 0: time.sleep(30)\n    made += 1\n"
        "except BlockingIOError: pass\nprint(made, flush=True)\nos.kill(0, 15)"
    )
    with group(places, processes=10) as made:
        inside = run_inside(made, code)
        assert inside.communicate()[0] == "10\n"
        used = made.usage()
        assert used.refusals >= 1
        assert used.processes == 10


def test_time_is_counted_of_processes_nobody_waited_for(places: list[Place]) -> None:
    """A group counts what was ever in it."""
    code = (
        "import signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "if os.fork() == 0:\n  while time.process_time() < 0.3: pass\n  os._exit(0)\n"
        "try: os.wait()\nexcept ChildProcessError: pass"
    )
    with group(places) as made:
        run_inside(made, code).communicate()
        used = made.usage()
        assert used.cpu_truth is Truth.KERNEL
        assert 0.3 <= used.cpu_seconds < 10


def test_killing_ends_everything_inside(places: list[Place]) -> None:
    """Also processes in sessions of their own; the group can be removed at once."""
    code = (
        "import time\n"
        "for _ in range(20):\n  if os.fork() == 0:\n    os.setsid(); time.sleep(60)\n"
        "print('ready', flush=True); time.sleep(60)"
    )
    with group(places) as made:
        inside = run_inside(made, code)
        assert inside.stdout is not None
        assert inside.stdout.readline() == "ready\n"
        assert not made.remove(), "a group with processes in it was removed"
    inside.stdout.close()
    assert inside.wait() == -signal.SIGKILL


def test_a_limit_that_is_refused_leaves_nothing_behind(places: list[Place]) -> None:
    """Half a group would be swept only when its owner is dead."""
    with pytest.raises(OSError, match="Invalid argument"):
        RunGroup(places, f"test-{next(_NUMBERS)}", processes=-5)


@pytest.mark.parametrize("run_id", ["", "../out", "a/b", "a b", "x" * 90, "new\nline"])
def test_a_name_is_one_name(run_id: str) -> None:
    """What becomes the name of a folder has the form of one, or there is no group."""
    with pytest.raises(ValueError, match="no name for a control group"):
        RunGroup([], run_id)


def test_what_dead_owners_left_is_swept(places: list[Place]) -> None:
    """Processes and groups of an owner that was killed go; those of living owners stay."""
    owner = (
        "import sys, time; sys.path[:0] = sys.argv[2:]\n"
        "from pathlib import Path\n"
        "from consentry.enforce.cgroups import RunGroup\n"
        "from consentry.enforce.groupplaces import Place, Version\n"
        "places = [Place(Path(f), Version(v), frozenset()) for v, _, f in"
        " (line.partition(' ') for line in sys.argv[1].splitlines())]\n"
        "made = RunGroup(places, 'left')\n"
        "import os, signal\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "  for door in made.doors: open(door, 'w').write('0')\n"
        "  print(os.getpid(), flush=True); time.sleep(60); os._exit(0)\n"
        "time.sleep(60)"
    )
    told = "\n".join(f"{place.version} {place.folder}" for place in places)
    argv = [sys.executable, "-c", owner, told, *sys.path]
    dying = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert dying.stdout is not None
    orphan = int(dying.stdout.readline())
    with group(places) as living:
        sweep(places)
        assert len(_groups_of(dying.pid, places)) == len(places), "the owner lives"
        dying.kill()
        dying.wait()
        dying.stdout.close()
        assert sweep(places) >= len(places)
        assert _groups_of(dying.pid, places) == []
        assert _is_gone(orphan)
        assert all(Path(door).exists() for door in living.doors)


def test_groups_of_another_pid_namespace_are_left_alone(places: list[Place]) -> None:
    """Of their owners it cannot be told whether they live."""
    strange = places[0].folder / "consentry-1-1-1-strange"
    strange.mkdir()
    try:
        sweep(places)
        assert strange.exists()
    finally:
        strange.rmdir()


def test_version_two_is_read_by_its_own_files(tmp_path: Path) -> None:
    """A folder with the files that such a group has stands in for one."""
    place = Place(tmp_path, Version.V2, frozenset({Holds.MEMORY, Holds.PIDS, Holds.TIME}))
    made = RunGroup([place], "told")
    [folder] = tmp_path.iterdir()
    for name, text in (
        ("memory.peak", "1048576\n"),
        ("memory.events", "low 0\nhigh 0\nmax 7\noom 2\noom_kill 2\noom_group_kill 0\n"),
        ("pids.peak", "5\n"),
        ("pids.events", "max 3\n"),
        ("cpu.stat", "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n"),
    ):
        (folder / name).write_text(text, encoding="ascii")
    kernel = Truth.KERNEL
    assert made.usage() == Usage(1.5, MIB, 4, 2, 3, kernel, kernel, kernel)
    (folder / "memory.peak").unlink()
    (folder / "memory.current").write_text("4096\n", encoding="ascii")
    used = made.usage()
    assert (used.memory_bytes, used.memory_truth) == (MIB, Truth.OBSERVED), "older kernels"
    assert made.doors == [f"{folder}/cgroup.procs"]


def test_threads_and_children_of_whoever_joined_are_inside(places: list[Place]) -> None:
    """Version 1 is joined by the only thread that there is; all that come of it are in the group."""
    code = (
        "import threading\n"
        "def told(): print(open('/proc/thread-self/cgroup').read(), end='', flush=True)\n"
        "other = threading.Thread(target=told); other.start(); other.join()\n"
        "if os.fork() == 0: told(); os._exit(0)\nos.wait()"
    )
    with group(places) as made:
        told = run_inside(made, code).communicate()[0].splitlines()
        assert len([line for line in told if line.endswith(f"/{made.name}")]) == 2 * len(places)


def test_a_process_is_known_by_when_it_started() -> None:
    """The number alone may be another's by now."""
    assert start_ticks(os.getpid()) == start_ticks(os.getpid())
    assert start_ticks(2**22 + 1) is None


def _groups_of(pid: int, places: list[Place]) -> list[Path]:
    return [each for place in places for each in place.folder.glob(f"consentry-*-{pid}-*")]


def _is_gone(pid: int) -> bool:
    """Dead, or dead and not yet waited for by whoever got it when its parent died."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            return True
        if state == b"Z":
            return True
        time.sleep(0.01)
    return False
