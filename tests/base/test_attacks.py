"""Attacks on paths in a jail and on sources shared between threads.

The attacker is a real process or thread that works while we do. Where a test counts on a race it
runs until the race was met often enough, and fails on the first wrong answer.
"""

import os
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.base.clock import Instant, ManualClock, SystemClock
from consentry.base.errors import BadInput, FilesystemRace, NotAFile, PathEscape
from consentry.base.ids import Uuid7Ids
from consentry.base.paths import FilesystemRaceDetected, SandboxedPath
from consentry.base.result import Err

SWAP_FILE = """
import os, sys
os.chdir(sys.argv[1])
while True:
    os.symlink(sys.argv[2], "spare"); os.rename("spare", "file")
    open("spare", "w").close(); os.rename("spare", "file")
"""

SWAP_FOLDER = """
import os, sys
os.chdir(sys.argv[1])
while True:
    os.symlink(sys.argv[2], "link")
    os.rename("folder", "spare"); os.rename("link", "folder")
    os.unlink("folder"); os.rename("spare", "folder")
"""

OPEN_FIFO = """
import sys
from pathlib import Path
from consentry.base.errors import ConsentryError
from consentry.base.paths import SandboxedPath
try:
    SandboxedPath.create(Path(sys.argv[1]), "fifo").unwrap().open(on_race=print)
except (ConsentryError, OSError):
    pass
"""


@pytest.fixture
def jail(tmp_path: Path) -> Path:
    """A jail with a file and a folder, beside a secret."""
    jail = tmp_path / "jail"
    (jail / "folder").mkdir(parents=True)
    (jail / "file").write_text("inside")
    (jail / "folder" / "file").write_text("inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("secret")
    return jail


def ignore(event: FilesystemRaceDetected) -> None:
    """A sink for tests that look at the exception only."""


def test_a_jail_replaced_by_a_link_is_not_followed(jail: Path, tmp_path: Path) -> None:
    """The jail's own name is a component too: a link in its place is refused."""
    path = SandboxedPath.create(jail, "file").unwrap()
    jail.rename(tmp_path / "moved")
    jail.symlink_to(tmp_path / "outside")
    with pytest.raises((FilesystemRace, OSError)):
        os.close(path.open(on_race=ignore))


def test_a_new_file_never_opens_one_that_was_planted(jail: Path, tmp_path: Path) -> None:
    """Between `create_new` and `open` a hard link may appear; opening to create refuses it."""
    path = SandboxedPath.create_new(jail, "new").unwrap()
    (jail / "new").hardlink_to(tmp_path / "outside" / "file")
    with pytest.raises((FilesystemRace, OSError)):
        os.close(path.open(os.O_WRONLY | os.O_CREAT | os.O_TRUNC, on_race=ignore))
    assert (tmp_path / "outside" / "file").read_text() == "secret"


def test_a_pipe_in_the_jail_does_not_hold_us(jail: Path) -> None:
    """Opening a FIFO without a writer returns or refuses; it does not wait for ever."""
    os.mkfifo(jail / "fifo")
    subprocess.run([sys.executable, "-c", OPEN_FIFO, str(jail)], timeout=20, check=True)


@pytest.mark.parametrize(
    ("attack", "relative", "target"),
    [(SWAP_FILE, "file", "outside/file"), (SWAP_FOLDER, "folder/file", "outside")],
)
def test_every_link_met_is_reported(
    attack: str, relative: str, target: str, jail: Path, tmp_path: Path
) -> None:
    """A link swapped in and out again is a race each time, also when it is gone a moment later."""
    path = SandboxedPath.create(jail, relative).unwrap()
    seen: list[FilesystemRaceDetected] = []
    swapper = subprocess.Popen([sys.executable, "-c", attack, str(jail), str(tmp_path / target)])
    unreported: list[OSError] = []
    try:
        while len(seen) < 2_000 and not unreported:
            try:
                descriptor = path.open(on_race=seen.append)
                assert os.read(descriptor, 6) != b"secret"
                os.close(descriptor)
            except FilesystemRace:
                continue
            except FileNotFoundError:
                continue
            except OSError as problem:
                unreported.append(problem)
    finally:
        swapper.kill()
        swapper.wait()
    assert unreported == []


@pytest.mark.parametrize("relative", ["a\0b", "\ud800", "x" * 300])
def test_a_name_that_no_file_can_have_is_refused_at_construction(jail: Path, relative: str) -> None:
    """`create_new` answers `Err` for what `create` does; the caller meets no surprise at `open`."""
    answer = SandboxedPath.create_new(jail, relative)
    assert isinstance(answer, Err)
    assert isinstance(answer.problem, PathEscape)


def test_a_name_taken_meanwhile_is_a_race(jail: Path, tmp_path: Path) -> None:
    """Between `create_new` and `open` a link or file appears: reported, then raised."""
    path = SandboxedPath.create_new(jail, "new").unwrap()
    (jail / "new").symlink_to(tmp_path / "outside" / "file")
    seen: list[FilesystemRaceDetected] = []
    with pytest.raises(FilesystemRace):
        path.open(os.O_WRONLY, on_race=seen.append)
    assert [race.component for race in seen] == ["new"]


def test_a_folder_swapped_for_a_link_is_a_race_when_opened_as_one(jail: Path) -> None:
    """`O_DIRECTORY` answers a link with another error; it is reported all the same."""
    path = SandboxedPath.create(jail, "folder").unwrap()
    (jail / "folder").rename(jail / "kept")
    (jail / "folder").symlink_to("kept")
    seen: list[FilesystemRaceDetected] = []
    with pytest.raises(FilesystemRace):
        path.open(os.O_RDONLY | os.O_DIRECTORY, on_race=seen.append)
    assert len(seen) == 1


def test_a_socket_and_a_pipe_to_write_are_no_files(jail: Path) -> None:
    """Both are `NotAFile`, whatever the system would have said."""
    os.mkfifo(jail / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(jail / "socket"))
        for name, flags in (("socket", os.O_RDONLY), ("fifo", os.O_WRONLY), ("fifo", os.O_RDONLY)):
            path = SandboxedPath.create(jail, name).unwrap()
            with pytest.raises(NotAFile):
                path.open(flags, on_race=ignore)


def test_a_hand_made_path_has_no_name_outside(jail: Path) -> None:
    """Neither does it name a file for others to open."""
    climbing = replace(SandboxedPath.create(jail, "file").unwrap(), relative=Path("../outside"))
    with pytest.raises(PathEscape):
        os.fspath(climbing)


def test_a_file_is_no_jail(jail: Path) -> None:
    """A jail is a folder."""
    assert isinstance(SandboxedPath.create(jail / "file", "."), Err)


def test_a_hand_made_path_does_not_climb(jail: Path) -> None:
    """A value put together without the check is refused when it is made or when it is opened."""
    made = SandboxedPath.create(jail, "file").unwrap()
    climbing = replace(made, relative=Path("../outside/file"))
    with pytest.raises(PathEscape):
        os.close(climbing.open(on_race=ignore))


def test_ids_ascend_in_every_thread_of_one_source() -> None:
    """Threads that share a source each see ascending ids, and no two share a counter."""
    ids = Uuid7Ids(SystemClock())
    made: list[list[str]] = [[] for _ in range(8)]

    def make(mine: list[str]) -> None:
        mine.extend(ids.new("run") for _ in range(20_000))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=make, args=(mine,)) for mine in made]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert all(mine == sorted(mine) for mine in made)
    counters = [made_id[:-8] for mine in made for made_id in mine]
    assert len(set(counters)) == len(counters)


@pytest.mark.parametrize("unix_ms", [-5, (1 << 48) + 5])
def test_a_time_that_a_uuid_cannot_hold_makes_no_id(unix_ms: int) -> None:
    """Such an id would sort before or behind every other; it is refused."""
    with pytest.raises(BadInput):
        Uuid7Ids(ManualClock(Instant(unix_ms))).new("run")
