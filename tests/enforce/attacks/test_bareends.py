"""The end of a run without namespaces: nothing of it stays, whatever it left and whoever is killed.

No pid namespace ends with its first process there. Each program, and what it leaves, is known outside
by a word among its arguments.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from consentry.enforce.native import calls
from consentry.enforce.native.runfolders import empty
from tests.enforce.attacks.attackers import PRELUDE
from tests.enforce.bareruns import BareHost, ground

pytestmark = pytest.mark.skipif(calls.landlock_abi() < 6, reason="needs Landlock's scopes")
PATIENCE = 60.0

LEAVES = (
    PRELUDE
    + """
import time
ready, told = os.pipe()
if os.fork() == 0:
    os.setsid()
    for descriptor in range(3):
        os.close(descriptor)
    if os.fork() == 0:
        libc.prctl(1, 0)
        os.write(told, b"r")
        time.sleep(600)
    os._exit(0)
os.wait()
os.read(ready, 1)
"""
)
HOPS = (
    PRELUDE
    + """
import time
until = time.monotonic() + 30
if os.fork() == 0:
    os.setsid()
    libc.prctl(1, 0)
    # One process at a time, each gone as soon as the next one is there, and not for ever.
    while time.monotonic() < until and os.fork() == 0:
        pass
    os._exit(0)
time.sleep(0.3)
"""
)


@pytest.fixture
def place(host: BareHost) -> Iterator[Path]:
    """A folder with a workspace."""
    with ground(host.uid) as made:
        yield made


@pytest.fixture
def word() -> Iterator[str]:
    """A word that only these programs have; whoever has it in the end is ended."""
    made = f"bare-{os.urandom(8).hex()}"
    yield made
    for pid in having(made):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def having(word: str) -> list[int]:
    """The processes that have it as one of their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if word.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def wait_for(is_so: Callable[[], object]) -> None:
    """Fails when it is not so after a long time."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_daemon_does_not_outlive_its_run(host: BareHost, place: Path, word: str) -> None:
    """It left the session, its parent is gone, and it asked not to be ended with anybody."""
    told = host.told(workspace=str(place / "ws"), code=LEAVES, words=[word])
    assert told["exit"] == 0
    assert having(word) == []


def test_a_process_that_is_always_another_one_is_ended(
    host: BareHost, place: Path, word: str
) -> None:
    """Between the look at who is there and the blow, it has become its own child."""
    told = host.told(workspace=str(place / "ws"), code=HOPS, words=[word])
    assert told["exit"] == 0
    assert having(word) == []


def test_without_our_keepers_it_does(host: BareHost, place: Path, word: str) -> None:
    """Where nobody adopts it, and no control group has it."""
    request = {"workspace": str(place / "ws"), "code": LEAVES, "words": [word]}
    told = host.told(**request, without=["keeping", "groups"])
    assert told["exit"] == 0
    assert len(having(word)) == 1


def test_time_is_up_for_all_of_it(host: BareHost, place: Path, word: str) -> None:
    """For what it left behind before as well."""
    code = LEAVES + "time.sleep(600)\n"
    limits = {"wall_seconds": 2.0}
    request = {"workspace": str(place / "ws"), "code": code, "words": [word], "limits": limits}
    assert host.told(**request)["ending"] == "timeout"
    assert having(word) == []


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(each) for each in listed.split()]


@pytest.mark.parametrize("killed", ["owner", "launcher", "keeper", "starter"])
def test_whichever_of_us_is_killed_nothing_stays(
    host: BareHost, place: Path, word: str, killed: str
) -> None:
    """And the next run removes the folders that were left, deep and closed ones included."""
    deep = "os.chdir(os.environ['TMPDIR'])\nos.mkdir('closed', 0)\n"
    deep += "for _ in range(200):\n    os.mkdir('d' * 100)\n    os.chdir('d' * 100)\n"
    code = LEAVES + deep + "print('ready')\ntime.sleep(600)\n"
    request = {"workspace": str(place / "ws"), "code": code, "words": [word]}
    # Groups would end it as well, at the next start.
    owner = host.started("carry_out_one", REQUEST=json.dumps({**request, "without": ["groups"]}))
    try:
        wait_for(lambda: len(having(word)) > 1)
        [own] = {found for pid in having(word) for found in _own_folders(pid)}
        launcher = next(pid for pid in _children(owner.pid) if _is_launcher(pid))
        [keeper] = _children(launcher)
        [starter] = _children(keeper)
        chosen = {"owner": owner.pid, "launcher": launcher, "keeper": keeper, "starter": starter}
        os.kill(chosen[killed], signal.SIGKILL)
        wait_for(lambda: having(word) == [])
    finally:
        owner.kill()
        owner.communicate()
    host.told(workspace=str(place / "ws"), argv=["true"])
    # Another run of this user's may have begun to remove it first.
    wait_for(lambda: not own.exists())


def _is_launcher(pid: int) -> bool:
    return b"BareLauncher" in Path(f"/proc/{pid}/cmdline").read_bytes()


def _own_folders(pid: int) -> list[Path]:
    """Where the own folders of its run are; nowhere for one that has ended meanwhile."""
    try:
        names = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return []
    tmp = [each.partition(b"=")[2] for each in names if each.startswith(b"TMPDIR=")]
    return [Path(os.fsdecode(each)).parent for each in tmp]


def test_the_run_s_own_folders_are_its_own_and_removed(host: BareHost, place: Path) -> None:
    """Two runs have different ones, which no other user enters; what was in them is gone."""
    code = (
        "import os, stat\n"
        "for name in ('TMPDIR', 'HOME'):\n"
        "    path = os.environ[name]\n"
        "    os.makedirs(path + '/a/b')\n"
        "    open(path + '/a/b/file', 'w').close()\n"
        "    os.symlink('/etc', path + '/a/link')\n"
        "    print(path, oct(stat.S_IMODE(os.stat(path).st_mode)))\n"
    )
    request = {"workspace": str(place / "ws"), "code": code}
    told = [host.told(**request)["stdout"].splitlines() for _ in range(2)]
    places = [Path(line.split()[0]) for lines in told for line in lines]
    assert len(set(places)) == 4
    assert {line.split()[1] for lines in told for line in lines} == {"0o700"}
    assert not any(path.parent.exists() for path in places)


def test_processes_are_limited(host: BareHost, place: Path) -> None:
    """By the kernel or by the watcher; a set number, each of which ends with its parent."""
    code = (
        "import os, signal, time\n"
        "ours, its = os.pipe()\n"
        "for _ in range(40):\n"
        "    if os.fork() == 0:\n"
        "        os.close(its)\n"
        "        os.read(ours, 1)\n"
        "        os._exit(0)\n"
        "time.sleep(1)\n"
        "print('had all')\n"
    )
    request = {"workspace": str(place / "ws"), "code": code, "limits": {"processes": 8}}
    told = host.told(**request)
    assert "had all" not in told["stdout"]
    assert told["exit"] != 0


def test_a_folder_is_emptied_however_deep_it_is(tmp_path: Path) -> None:
    """Closed folders, links, pipes, and names longer than any path may be."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "kept").write_text("kept")
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        below = os.dup(here)
        for _ in range(300):
            os.mkdir("d" * 200, dir_fd=below)
            os.symlink(tmp_path, "link", dir_fd=below)
            os.mkfifo("pipe", dir_fd=below)
            deeper = os.open("d" * 200, os.O_RDONLY | os.O_DIRECTORY, dir_fd=below)
            os.close(below)
            below = deeper
        os.close(below)
        (folder / "closed").mkdir(0)
        empty(here)
    finally:
        os.close(here)
    assert list(folder.iterdir()) == []
    assert (tmp_path / "kept").read_text() == "kept"


def test_nobody_else_is_ended(host: BareHost, place: Path, word: str) -> None:
    """A process of the same user that has nothing to do with the run lives on."""
    other = subprocess.Popen([word, "600"], executable="/bin/sleep", cwd="/")
    try:
        told = host.told(workspace=str(place / "ws"), code=LEAVES, words=["left"])
        assert told["exit"] == 0
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
