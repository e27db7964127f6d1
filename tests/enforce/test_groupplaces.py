"""Where control groups can be made: read from prepared hosts, and from the real one."""

import os
import subprocess
import sys

import pytest

from consentry.enforce.facts import HostView
from consentry.enforce.groupplaces import Holds, Version, find_places
from tests.enforce.conftest import MakeHost

OWN = "sys/fs/cgroup/user.slice/app"
ABOVE = "sys/fs/cgroup/user.slice"
FIRST_VERSION_MOUNTS = (
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)
FIRST_VERSION: dict[str, str | None] = {
    "proc/self/mountinfo": FIRST_VERSION_MOUNTS,
    "proc/self/cgroup": "4:memory:/mine\n3:cpu,cpuacct:/\n2:pids:/\n1:name=systemd:/\n",
    "sys/fs/cgroup/memory/mine/cgroup.procs": "",
    "sys/fs/cgroup/cpu,cpuacct/cgroup.procs": "",
    "sys/fs/cgroup/pids/cgroup.procs": "",
}


def found(view: HostView) -> dict[str, tuple[Version, set[Holds]]]:
    """The places by their path below the root of the view."""
    return {
        f"/{place.folder.relative_to(view.root)}": (place.version, set(place.holds))
        for place in find_places(view)
    }


def test_version_two_is_taken_from_the_group_above(make_host: MakeHost) -> None:
    """The group that we are in holds processes and so hands nothing on; the one above does."""
    view = make_host(
        {f"{ABOVE}/cgroup.subtree_control": "cpu memory pids\n", f"{ABOVE}/cgroup.procs": ""}
    )
    every = {Holds.MEMORY, Holds.PIDS, Holds.SHARE, Holds.TIME}
    assert found(view) == {f"/{ABOVE}": (Version.V2, every)}


@pytest.mark.parametrize("limit", ["memory.max", "memory.high", "cpu.max"])
def test_a_group_that_limits_us_is_not_stepped_out_of(make_host: MakeHost, limit: str) -> None:
    """A run gets no more than its owner has: only the time is measured, inside."""
    view = make_host(
        {
            f"{ABOVE}/cgroup.subtree_control": "cpu memory pids\n",
            f"{ABOVE}/cgroup.procs": "",
            f"{OWN}/{limit}": "50000 100000\n",
        }
    )
    assert found(view) == {f"/{OWN}": (Version.V2, {Holds.TIME})}


def test_a_group_without_a_limit_is_stepped_out_of(make_host: MakeHost) -> None:
    """`max` is no limit, however it is followed."""
    view = make_host(
        {
            f"{ABOVE}/cgroup.subtree_control": "pids\n",
            f"{ABOVE}/cgroup.procs": "",
            f"{OWN}/memory.max": "max\n",
            f"{OWN}/cpu.max": "max 100000\n",
        }
    )
    assert found(view) == {f"/{ABOVE}": (Version.V2, {Holds.PIDS, Holds.TIME})}


def test_where_nothing_is_handed_on_the_time_is_measured(make_host: MakeHost) -> None:
    """Every group of version 2 counts processor time, whatever else it may do."""
    assert found(make_host()) == {f"/{OWN}": (Version.V2, {Holds.TIME})}


@pytest.mark.parametrize(
    "missing", [f"{OWN}/cgroup.procs", "proc/self/cgroup", "proc/self/mountinfo"]
)
def test_nothing_is_found_where_no_group_can_be_entered(make_host: MakeHost, missing: str) -> None:
    """Without its door a group is of no use, and neither is one that cannot be found."""
    assert found(make_host({missing: None})) == {}


def test_version_one_is_taken_below_our_own_groups(make_host: MakeHost) -> None:
    """Each kind of resource from its own tree; trees that hold nothing for us are left alone."""
    assert found(make_host(FIRST_VERSION)) == {
        "/sys/fs/cgroup/memory/mine": (Version.V1, {Holds.MEMORY}),
        "/sys/fs/cgroup/cpu,cpuacct": (Version.V1, {Holds.TIME, Holds.SHARE}),
        "/sys/fs/cgroup/pids": (Version.V1, {Holds.PIDS}),
    }


def test_with_both_versions_each_resource_is_taken_once(make_host: MakeHost) -> None:
    """A tree of version 2 that counts time only is left alone where version 1 counts it as well."""
    changes = {
        **FIRST_VERSION,
        "proc/self/cgroup": "4:memory:/mine\n3:cpu,cpuacct:/\n2:pids:/\n0::/\n",
        "sys/fs/cgroup/unified/cgroup.procs": "",
        "sys/fs/cgroup/unified/cgroup.subtree_control": "",
    }
    assert found(make_host(changes)) == {
        "/sys/fs/cgroup/memory/mine": (Version.V1, {Holds.MEMORY}),
        "/sys/fs/cgroup/cpu,cpuacct": (Version.V1, {Holds.TIME, Holds.SHARE}),
        "/sys/fs/cgroup/pids": (Version.V1, {Holds.PIDS}),
    }


def test_what_version_one_lacks_is_taken_from_version_two(make_host: MakeHost) -> None:
    """Time by version 2 where no tree of version 1 counts it; memory there where it hands that on."""
    changes = {
        **FIRST_VERSION,
        "proc/self/cgroup": "4:memory:/mine\n2:pids:/\n0::/\n",
        "sys/fs/cgroup/unified/cgroup.procs": "",
        "sys/fs/cgroup/unified/cgroup.subtree_control": "",
    }
    pids = {"/sys/fs/cgroup/pids": (Version.V1, {Holds.PIDS})}
    assert found(make_host(changes)) == {
        "/sys/fs/cgroup/memory/mine": (Version.V1, {Holds.MEMORY}),
        "/sys/fs/cgroup/unified": (Version.V2, {Holds.TIME}),
        **pids,
    }
    changes["sys/fs/cgroup/unified/cgroup.subtree_control"] = "memory\n"
    assert found(make_host(changes)) == {
        "/sys/fs/cgroup/unified": (Version.V2, {Holds.MEMORY, Holds.TIME}),
        **pids,
    }


def test_a_user_without_rights_finds_no_place_on_this_host() -> None:
    """Nothing is claimed for a caller who may not write; shown as a user that owns nothing."""
    if os.getuid() != 0:
        places = find_places(HostView(uid=os.getuid()))
        assert all(os.access(place.folder, os.W_OK) for place in places)
        return
    program = (
        "import os, sys; sys.path[:0] = sys.argv[1:]\n"
        "from consentry.enforce.facts import HostView\n"
        "from consentry.enforce.groupplaces import find_places\n"
        "os.setgroups([]); os.setresgid(*[65534] * 3); os.setresuid(*[65534] * 3)\n"
        "print(find_places(HostView(uid=65534)))"
    )
    argv = [sys.executable, "-c", program, *sys.path]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("()\n", "")
