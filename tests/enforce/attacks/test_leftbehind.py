"""Nothing is left behind: no process, mount or folder, also when somebody was killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import consentry
from consentry.enforce.native.parent import NativeParent
from tests.enforce.attacks.attackers import NOBODY, Attacker, as_user

_SOURCE = Path(consentry.__file__).parents[1]
OWNER = """
import sys
from pathlib import Path
from tests.enforce.boxes import PYTHON, run_in_box
code = "import os, time\\nos.fork() or os.setsid()\\nos.fork()\\nprint('UP', flush=True)\\ntime.sleep(50)"
def watch(running):
    if running.pid is not None:
        print(running.pid, flush=True)
try:
    run = run_in_box([PYTHON, "-I", "-S", "-c", code, sys.argv[2]], workspace=Path(sys.argv[1]), watch=watch)
    print("ENDED", run.ended.status, run.ended.problem, flush=True)
except BaseException as problem:
    print("RAISED", repr(problem), flush=True)
"""


class _Owner:
    """A process that has a box running in which processes sleep."""

    def __init__(self, attacker: Attacker, mark: str) -> None:
        self.mark = mark
        packages = [path for path in sys.path if path.endswith("site-packages")]
        path = os.pathsep.join([str(_SOURCE), str(_SOURCE.parent), *packages])
        python = sys.executable if attacker.uid == os.getuid() else "/usr/bin/python3"
        self.process = subprocess.Popen(
            [python, "-B", "-c", OWNER, str(attacker.ws), mark],
            env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
            cwd="/",
            stdout=subprocess.PIPE,
            text=True,
            **as_user(attacker.uid),
        )
        assert self.process.stdout is not None
        self.first = int(self.process.stdout.readline())
        self.launcher = int(
            Path(f"/proc/{self.first}/stat").read_text().rpartition(")")[2].split()[1]
        )
        _until(lambda: len(self.marked()) >= 5)

    def marked(self) -> list[int]:
        """The processes that have the mark among their words: the owner, and those in the box."""
        return [pid for pid in _pids() if self.mark.encode() in _words(pid)]

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def _pids() -> Iterator[int]:
    yield from (int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit())


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _folders(uid: int) -> set[Path]:
    found = set()
    for path in Path("/tmp").glob("consentry-box-*"):
        try:
            if path.stat().st_uid == uid:
                found.add(path)
        except FileNotFoundError:
            continue
    return found


@pytest.fixture
def owner(attacker: Attacker) -> Iterator[_Owner]:
    """One with a box that is up."""
    made = _Owner(attacker, f"attack-{os.urandom(6).hex()}")
    yield made
    made.close()


@pytest.mark.parametrize("whom", ["owner", "launcher", "first"])
def test_killing_any_of_them_ends_everything(owner: _Owner, whom: str) -> None:
    """The owner, the launcher, or the first process of the box: all that was inside dies."""
    numbers = {"owner": owner.process.pid, "launcher": owner.launcher, "first": owner.first}
    os.kill(numbers[whom], signal.SIGKILL)
    inside = [owner.first, owner.launcher] if whom != "first" else [owner.first]
    if whom != "owner":
        said, _ = owner.process.communicate(timeout=30)
        assert "ENDED None" in said or "RAISED" in said
    else:
        owner.process.wait()
    _until(lambda: owner.marked() == [] and all(_words(pid) == b"" for pid in inside))


def test_a_killed_owners_folder_is_swept_at_the_next_start(attacker: Attacker) -> None:
    """It was empty, and nobody had it any more; those of the living stay."""
    if attacker.uid == NOBODY != os.getuid():
        pytest.skip("the next start is ours, and sweeps our own")
    before = _folders(attacker.uid)
    owner = _Owner(attacker, f"attack-{os.urandom(6).hex()}")
    folders = _folders(attacker.uid) - before
    living = NativeParent()
    assert folders
    owner.close()
    _until(lambda: owner.marked() == [])
    NativeParent().close()
    left = _folders(attacker.uid)
    assert folders - left
    assert Path(living._root).exists()
    living.close()
    assert not Path(living._root).exists()


def test_a_run_leaves_neither_mounts_nor_descriptors_nor_folders(attacker: Attacker) -> None:
    """After its normal end this process has what it had before."""
    attacker.runs("print(1)")
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        attacker.runs("os.fork()\nwrite('/tmp/x')\nwrite('x')")
    assert Path("/proc/self/mountinfo").read_text(encoding="utf-8") == mounts
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
    assert not list(attacker.ws.iterdir())
