"""Which process leads the session, and whether it lives: in a prepared /proc, and in the real one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from consentry.decide.session import Leader
from consentry.service.leader import is_alive, leader_here

BOOT = "11111111-2222-3333-4444-555555555555"

LEADER = """
import os
from consentry.service.leader import is_alive, leader_here
found = leader_here()
own = os.readlink("/proc/self")
print(found.pid, found.boot_id, is_alive(found), own, os.getpid(), os.getsid(0))
"""


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A /proc with a boot and no process."""
    folder = tmp_path / "proc"
    (folder / "sys/kernel/random").mkdir(parents=True)
    (folder / "sys/kernel/random/boot_id").write_text(f"{BOOT}\n")
    return folder


def add(
    proc: Path,
    pid: int,
    *,
    parent: int = 1,
    session: int = 0,
    ticks: int = 100,
    state: str = "S",
    own: bool = False,
    name: str = "sh",
) -> None:
    """A process in that /proc; `own` makes it this one."""
    rest = [state, parent, pid, session, 0, -1, *range(13), ticks, 4096, 1]
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "stat").write_text(f"{pid} ({name}) {' '.join(map(str, rest))}\n")
    if own:
        (proc / "self").symlink_to(str(pid))


def in_namespace(proc: Path, pid: int, number: int) -> None:
    """Says which process namespace it is in."""
    (proc / str(pid) / "ns").mkdir()
    (proc / str(pid) / "ns/pid").symlink_to(f"pid:[{number}]")


def test_the_leader_of_the_login_session(proc: Path) -> None:
    """By its number, its own start time, and the boot."""
    add(proc, 50, parent=40, session=50, ticks=777, name="ba sh) 1 2 (x\n")
    add(proc, 60, parent=55, session=50, own=True)
    assert leader_here(proc) == Leader(50, 777, BOOT)


@pytest.mark.parametrize("session", [0, 50], ids=["outside", "gone"])
def test_a_leader_that_cannot_be_seen_is_replaced_by_the_topmost_ancestor(
    proc: Path, session: int
) -> None:
    """Outside of the container, or ended while its session goes on."""
    add(proc, 7, parent=0, ticks=70)
    add(proc, 8, parent=7, ticks=80)
    add(proc, 9, parent=8, session=session, own=True)
    assert leader_here(proc) == Leader(7, 70, BOOT)


def test_a_leader_that_has_ended_and_is_not_buried_leads_no_more(proc: Path) -> None:
    """A zombie has a file in /proc, too."""
    add(proc, 1, parent=0, ticks=1)
    add(proc, 50, parent=1, session=50, state="Z")
    add(proc, 60, parent=1, session=50, own=True)
    assert leader_here(proc).pid == 1


def test_the_way_up_ends_where_nothing_can_be_seen(proc: Path) -> None:
    """A hidden parent, and parents that name each other, end it as well."""
    add(proc, 8, parent=3, ticks=80)
    add(proc, 9, parent=8, own=True)
    assert leader_here(proc).pid == 8
    (proc / "8/stat").unlink()
    assert leader_here(proc).pid == 9
    (proc / "8").rmdir()
    add(proc, 8, parent=9)
    assert leader_here(proc).pid == 8


def test_without_proc_this_process_leads_itself(tmp_path: Path) -> None:
    """There is always a leader; asked twice, the same one, and it lives."""
    missing = tmp_path / "nothing"
    found = leader_here(missing)
    assert found.pid == os.getpid()
    assert leader_here(missing) == found
    assert is_alive(found, missing)
    assert is_alive(found)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert not is_alive(Leader(ended.pid, 0, found.boot_id), missing)


def test_a_process_that_is_gone_or_another_one_is_not_alive(proc: Path) -> None:
    """The same number with another start time, ended, or from another boot."""
    add(proc, 50, session=50, ticks=777)
    add(proc, 60, session=50, own=True)
    assert is_alive(Leader(50, 777, BOOT), proc)
    assert not is_alive(Leader(50, 778, BOOT), proc)
    assert not is_alive(Leader(51, 777, BOOT), proc)
    assert not is_alive(Leader(50, 777, BOOT.replace("1", "9")), proc)


def test_what_cannot_be_told_is_taken_to_live(proc: Path, tmp_path: Path) -> None:
    """A container's process seen from outside, a boot that cannot be read, no /proc at all."""
    add(proc, 60, session=60, ticks=5, own=True)
    outside = leader_here(proc)
    in_namespace(proc, 60, 4026532222)
    inside = leader_here(proc)
    assert inside.boot_id == f"{BOOT}/pid:[4026532222]"
    assert is_alive(outside, proc)
    assert is_alive(Leader(61, 5, BOOT), proc), "61 may run outside; here it only is not seen"
    assert not is_alive(Leader(61, 5, inside.boot_id), proc)
    (proc / "sys/kernel/random/boot_id").unlink()
    assert is_alive(outside, proc)
    assert leader_here(proc).boot_id.startswith("unknown")
    assert is_alive(Leader(1, 1, "unknown"), tmp_path / "nothing")


class Seen(NamedTuple):
    """What a real process sees: its leader, its own number in /proc and as it counts itself."""

    leader: int
    boot: str
    leader_lives: bool
    in_proc: int
    own: int
    session: int


def seen_by(*command: str, **options: bool) -> Seen:
    """The look around of a process that was started that way."""
    words = [*command, sys.executable, "-c", LEADER]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode != 0 and "unshare" in command[:1]:
        pytest.skip(f"no namespace can be made here: {done.stderr.strip()}")
    pid, boot, alive, in_proc, own, session = done.stdout.split()
    return Seen(int(pid), boot, alive == "True", int(in_proc), int(own), int(session))


def test_the_real_leader_lives() -> None:
    """In the session that the tests run in, whatever that is."""
    found = leader_here()
    assert is_alive(found)
    assert leader_here() == found
    if os.getsid(0) > 0 and Path(f"/proc/{os.getsid(0)}/stat").exists():
        assert found.pid == os.getsid(0)


def test_a_session_of_its_own_is_led_by_its_first_process() -> None:
    """As behind `setsid`; and it is over with that process."""
    seen = seen_by(start_new_session=True)
    assert seen.session == seen.own
    assert (seen.leader, seen.leader_lives) == (seen.in_proc, True)
    assert not is_alive(Leader(seen.leader, 1, seen.boot))


def in_namespace_of_its_own(*more: str) -> Seen:
    """The look around of the first process of a process namespace."""
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    return seen_by("unshare", "--pid", "--fork", *more, *user)


def test_in_a_process_namespace_of_its_own_there_is_a_leader_too() -> None:
    """The session's leader is outside (its number is 0); the topmost process inside leads."""
    seen = in_namespace_of_its_own("--mount-proc")
    assert (seen.own, seen.in_proc, seen.session) == (1, 1, 0)
    assert (seen.leader, seen.leader_lives) == (1, True)
    assert "/pid:[" in seen.boot
    assert is_alive(Leader(seen.leader, 1, seen.boot)), "from here it cannot be told"


def test_numbers_of_another_namespace_are_not_mixed_up() -> None:
    """A process namespace whose /proc still shows the one outside: only /proc's own numbers fit."""
    seen = in_namespace_of_its_own()
    assert (seen.own, seen.session) == (1, 0)
    assert (seen.leader, seen.leader_lives) == (leader_here().pid, True)
