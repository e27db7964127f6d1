"""Control groups and /proc, as the mount table of a prepared tree shows them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.enforce.facts import Fact, Found, HostView
from consentry.enforce.host import look_at_host
from consentry.enforce.mounts import is_socketless, read_mounts, share_files

MakeHost = Callable[..., HostView]

MOUNTINFO = "proc/self/mountinfo"
V1 = (
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
)
V1_GROUPS = {
    MOUNTINFO: V1,
    "proc/self/cgroup": "9:name=systemd:/\n8:pids:/\n4:memory:/mine\n0::/\n",
    "sys/fs/cgroup/memory/mine/cgroup.procs": "",
    "sys/fs/cgroup/pids/cgroup.procs": "",
}


def _fact(view: HostView, name: str) -> Fact:
    (found,) = (fact for fact in look_at_host(view) if fact.name == name)
    return found


@pytest.mark.parametrize(
    ("mounts", "found", "value"),
    [
        ("26 23 0:24 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", Found.YES, "v2"),
        (V1, Found.YES, "v1"),
        (V1 + "41 31 0:38 / /u rw - cgroup2 cgroup2 rw\n", Found.YES, "v1 and v2"),
        ("22 27 0:21 / /proc rw - proc proc rw\n", Found.NO, "not mounted"),
        ("not a line of a mount table\n", Found.NO, "not mounted"),
    ],
)
def test_versions_are_those_that_are_mounted(
    make_host: MakeHost, mounts: str, found: Found, value: str
) -> None:
    """One, the other, both or none; a line that cannot be read counts for nothing."""
    fact = _fact(make_host({MOUNTINFO: mounts}), "cgroup")
    assert (fact.found, fact.value) == (found, value)


def test_own_group_of_version_2_is_delegated_when_it_may_be_written(make_host: MakeHost) -> None:
    """The group of this process, writable and with both limits: limits can be set."""
    fact = _fact(make_host(), "cgroup-delegation")
    assert (fact.found, fact.value) == (Found.YES, "memory pids")
    assert "/sys/fs/cgroup/user.slice/app" in fact.why


def test_own_groups_of_version_1_are_delegated_when_all_may_be_written(
    make_host: MakeHost,
) -> None:
    """In version 1 each limit has a hierarchy of its own, and all that are needed must be open."""
    assert _fact(make_host(V1_GROUPS), "cgroup-delegation").found is Found.YES


def test_a_missing_limit_is_named(make_host: MakeHost) -> None:
    """A group that cannot limit the number of processes is not enough."""
    controllers = {"sys/fs/cgroup/user.slice/app/cgroup.controllers": "cpu memory\n"}
    fact = _fact(make_host(controllers), "cgroup-delegation")
    assert (fact.found, fact.value) == (Found.NO, "no pids group")


def test_a_group_that_may_not_be_written_is_not_delegated(make_host: MakeHost) -> None:
    """Without the right to write its own group a process can set no limit."""
    if os.geteuid() == 0:
        # Root may write any mode; what it cannot do is write what is not there.
        missing: dict[str, str | None] = {"sys/fs/cgroup/user.slice/app/cgroup.procs": None}
        fact = _fact(make_host(missing), "cgroup-delegation")
    else:
        view = make_host()
        (view.root / "sys/fs/cgroup/user.slice/app/cgroup.procs").chmod(0o444)
        fact = _fact(view, "cgroup-delegation")
    assert (fact.found, fact.value) == (Found.NO, "not writable")


def test_mounts_over_parts_of_proc_are_seen(make_host: MakeHost) -> None:
    """What containers put over /proc is named; mount points made for mounting do not count."""
    assert _fact(make_host(), "whole-proc").found is Found.YES
    masked = (
        "22 27 0:21 / /proc rw - proc proc rw\n"
        "50 22 0:5 /null /proc/kcore rw - devtmpfs udev rw\n"
        "51 22 0:60 / /proc/acpi ro - tmpfs tmpfs ro\n"
    )
    fact = _fact(make_host({MOUNTINFO: masked}), "whole-proc")
    assert (fact.found, fact.value) == (Found.NO, "2 parts covered")
    assert "/proc/acpi, /proc/kcore" in fact.why


def test_names_with_escapes_are_read_as_they_are(make_host: MakeHost) -> None:
    r"""The kernel writes a space as `\040`; the group is found all the same."""
    mounts = "26 23 0:24 / /my\\040groups rw - cgroup2 cgroup2 rw\n"
    group = "my groups/user.slice/app"
    view = make_host(
        {
            MOUNTINFO: mounts,
            f"{group}/cgroup.controllers": "memory pids\n",
            f"{group}/cgroup.procs": "",
            f"{group}/cgroup.subtree_control": "",
        }
    )
    assert _fact(view, "cgroup-delegation").found is Found.YES


BOUND = (
    "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "21 20 8:2 / /home rw - ext4 /dev/sda2 rw\n"
    "22 20 8:2 /me/app/sub\\040folder /alias rw - ext4 /dev/sda2 rw\n"
    "23 21 8:1 /srv/data /home/me/app/data rw - ext4 /dev/sda1 rw\n"
    "24 20 8:2 /me /covered rw - ext4 /dev/sda2 rw\n"
    "25 20 8:3 / /covered rw - ext4 /dev/sda3 rw\n"
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/me/app/x", True),
        ("/alias", True),
        ("/alias/state", True),
        ("/srv/data/state", True),
        ("/srv/database", False),
        ("/srv", False),
        ("/home/me/application", False),
        ("/covered/app", False),
        ("/me/app", False),
    ],
)
def test_same_files_under_another_name(make_host: MakeHost, path: str, *, expected: bool) -> None:
    """A part of a folder mounted elsewhere, and what is mounted into it; a later mount covers."""
    mounts = read_mounts(make_host({MOUNTINFO: BOUND}))
    assert mounts is not None
    assert share_files(Path(path), Path("/home/me/app"), mounts) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/media/stick/folder", True),
        ("/media/stick", True),
        ("/media/stick/inner", False),
        ("/media/other", False),
        ("/media/covered", False),
    ],
)
def test_nobody_listens_on_a_memory_stick(
    make_host: MakeHost, path: str, *, expected: bool
) -> None:
    """The innermost mount decides, and of two at one place the later one."""
    table = (
        "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "21 20 8:2 / /media/stick rw - vfat /dev/sdb1 rw\n"
        "22 21 8:3 / /media/stick/inner rw - ext4 /dev/sdc1 rw\n"
        "23 20 8:2 / /media/covered rw - exfat /dev/sdb2 rw\n"
        "24 20 8:3 / /media/covered rw - ext4 /dev/sdc1 rw\n"
    )
    mounts = read_mounts(make_host({MOUNTINFO: table}))
    assert mounts is not None
    assert is_socketless(Path(path), mounts) is expected
