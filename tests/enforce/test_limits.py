"""Which mechanism holds each limit: decided from what a host and a caller have."""

import os
import resource
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.enforce.confinement import Limits
from consentry.enforce.facts import HostView
from consentry.enforce.groupplaces import Holds, Place, Version
from consentry.enforce.limits import (
    LEAST_MEMORY_BYTES,
    MOST_DESCRIPTORS,
    MOST_PROCESSES,
    HeldControl,
    LimitMeans,
    LimitPlan,
    Mechanism,
)
from consentry.enforce.usage import Control
from consentry.enforce.violations import Truth
from consentry.surface.modes import Writes
from tests.enforce.conftest import MakeHost

MIB = 1 << 20
EVERYTHING = Limits(
    cpu_seconds=10,
    memory_bytes=256 * MIB,
    processes=20,
    file_bytes=MIB,
    written_bytes=8 * MIB,
    output_bytes=1000,
    wall_seconds=60.0,
)
WATCHING = LimitMeans(places=(), can_watch=True, counts_box_alone=False, memory_bytes=1024 * MIB)
USER = replace(WATCHING, counts_box_alone=True)


def grouped(version: Version, *holds: Holds) -> LimitMeans:
    """A caller who may make groups that hold these."""
    return replace(WATCHING, places=(Place(Path("/groups"), version, frozenset(holds)),))


def holders(plan: LimitPlan) -> dict[Control, tuple[Mechanism, Truth]]:
    """What holds what."""
    return {held.control: (held.mechanism, held.truth) for held in plan.controls}


EVERY = (Holds.MEMORY, Holds.PIDS, Holds.TIME)
ALWAYS_SO = {
    Control.FILE: (Mechanism.RLIMIT, Truth.KERNEL),
    Control.WRITTEN: (Mechanism.TMPFS, Truth.KERNEL),
    Control.OUTPUT: (Mechanism.SUPERVISOR, Truth.MEDIATED),
    Control.WALL: (Mechanism.SUPERVISOR, Truth.MEDIATED),
    Control.DESCRIPTORS: (Mechanism.RLIMIT, Truth.KERNEL),
}
V1, V2 = (Mechanism.CGROUP_V1, Truth.KERNEL), (Mechanism.CGROUP_V2, Truth.KERNEL)
WATCHED, BY_RLIMIT = (Mechanism.WATCHER, Truth.OBSERVED), (Mechanism.RLIMIT, Truth.KERNEL)


@pytest.mark.parametrize(
    ("means", "memory", "processes", "time"),
    [
        (grouped(Version.V2, *EVERY), V2, V2, V2),
        (grouped(Version.V1, *EVERY), V1, V1, V1),
        (grouped(Version.V2, Holds.TIME), WATCHED, WATCHED, V2),
        (replace(grouped(Version.V2, Holds.TIME), counts_box_alone=True), WATCHED, BY_RLIMIT, V2),
        (USER, WATCHED, BY_RLIMIT, WATCHED),
        (WATCHING, WATCHED, WATCHED, WATCHED),
    ],
    ids=["v2", "v1", "v2-counts-time-only", "user-and-time", "user", "root-without-groups"],
)
def test_the_strongest_mechanism_holds_a_limit(
    means: LimitMeans,
    memory: tuple[Mechanism, Truth],
    processes: tuple[Mechanism, Truth],
    time: tuple[Mechanism, Truth],
) -> None:
    """A group before an rlimit, an rlimit before the watcher, and each says who vouches for it."""
    plan = LimitPlan.of(EVERYTHING, means)
    assert plan.unheld == ()
    assert holders(plan) == {
        **ALWAYS_SO,
        Control.MEMORY: memory,
        Control.PROCESSES: processes,
        Control.CPU: time,
    }


def test_every_control_is_reported_on_this_host() -> None:
    """Held or not, each of them once, whether asked for or not."""
    plan = LimitPlan.of(Limits(), LimitMeans.of(HostView(uid=os.getuid())).proved())
    named = [held.control for held in plan.controls] + [each.control for each in plan.unheld]
    assert sorted(named) == sorted(Control)


def test_what_nothing_can_hold_is_listed_with_its_reason() -> None:
    """Without groups and without a list of children nothing counts a whole tree."""
    blind = replace(WATCHING, can_watch=False)
    unheld = LimitPlan.of(EVERYTHING, blind).unheld
    assert [each.control for each in unheld] == [
        Control.MEMORY,
        Control.PROCESSES,
        Control.CPU,
    ]
    assert str(unheld[0]).startswith("memory_bytes: no control group may be made")
    assert LimitPlan.of(Limits(), blind).unheld == (), "nobody asked for anything"


def test_writes_that_reach_the_workspace_have_no_quota() -> None:
    """Asked for, it is refused; not asked for, it is not promised."""
    asked = LimitPlan.of(EVERYTHING, USER, writes=Writes.DIRECT)
    assert [each.control for each in asked.unheld] == [Control.WRITTEN]
    by_default = LimitPlan.of(Limits(), USER, writes=Writes.DIRECT)
    assert by_default.unheld == ()
    assert Control.WRITTEN not in holders(by_default)


@pytest.mark.parametrize(
    "limits",
    [
        Limits(processes=0),
        Limits(cpu_seconds=0),
        Limits(cpu_seconds=-1),
        Limits(memory_bytes=LEAST_MEMORY_BYTES - 1),
        Limits(written_bytes=0),
        Limits(wall_seconds=-1.0),
        Limits(output_bytes=-1),
        Limits(file_bytes=-1),
    ],
)
def test_a_limit_under_which_nothing_runs_is_listed(limits: Limits) -> None:
    """Some of these would mean no limit at all to the kernel."""
    [unheld] = LimitPlan.of(limits, USER).unheld
    assert "a box needs at least" in unheld.why


def test_two_limits_are_there_without_being_asked_for() -> None:
    """No run takes all processes or all memory of a host."""
    plan = LimitPlan.of(Limits(), USER)
    assert plan.limit(Control.PROCESSES) == MOST_PROCESSES
    assert plan.limit(Control.MEMORY) == 768 * MIB
    assert plan.limit(Control.DESCRIPTORS) == MOST_DESCRIPTORS
    assert plan.limit(Control.CPU) is None


def rlimits(plan: LimitPlan) -> dict[int, tuple[int, int]]:
    """Soft and hard by the number of the resource."""
    return {which: (soft, hard) for which, soft, hard in plan.rlimits}


def test_rlimits_hold_each_process_to_what_they_can() -> None:
    """A second between being asked to end and being killed; no core files, no real time."""
    chosen = rlimits(LimitPlan.of(EVERYTHING, USER))
    assert chosen[resource.RLIMIT_CPU] == (10, 11)
    assert chosen[resource.RLIMIT_FSIZE] == (MIB, MIB)
    assert chosen[resource.RLIMIT_NPROC] == (21, 21)
    assert chosen[resource.RLIMIT_CORE] == (0, 0)
    assert chosen[resource.RLIMIT_RTPRIO] == (0, 0)
    assert resource.RLIMIT_AS not in chosen


def test_the_kernel_bounds_processes_where_the_watcher_counts_them() -> None:
    """All boxes of such a caller together, since the kernel counts them as one user's."""
    chosen = rlimits(LimitPlan.of(EVERYTHING, WATCHING))
    assert chosen[resource.RLIMIT_NPROC] == (MOST_PROCESSES + 1, MOST_PROCESSES + 1)
    more = rlimits(LimitPlan.of(Limits(processes=5000), WATCHING))
    assert more[resource.RLIMIT_NPROC] == (5001, 5001)
    grouped_ones = rlimits(LimitPlan.of(EVERYTHING, grouped(Version.V1, *EVERY)))
    assert resource.RLIMIT_NPROC not in grouped_ones


def test_no_limit_is_set_over_one_that_we_have() -> None:
    """Nobody can raise what they were given; asking for it would fail when the box is built."""
    means = replace(USER, ceilings={resource.RLIMIT_NOFILE: 256, resource.RLIMIT_FSIZE: -1})
    chosen = rlimits(LimitPlan.of(EVERYTHING, means))
    assert chosen[resource.RLIMIT_NOFILE] == (256, 256)
    assert chosen[resource.RLIMIT_FSIZE] == (MIB, MIB)


def test_an_older_kernel_counts_all_processes_of_a_user(make_host: MakeHost) -> None:
    """There the rlimit would count what runs outside of the box, so it is not used for it."""
    assert LimitMeans.of(make_host()).counts_box_alone
    assert not LimitMeans.of(
        make_host({"proc/sys/kernel/osrelease": "5.10.0-32-amd64\n"})
    ).counts_box_alone
    assert not LimitMeans.of(make_host({"proc/sys/kernel/osrelease": "strange\n"})).counts_box_alone
    assert not LimitMeans.of(make_host(uid=0)).counts_box_alone, "root has no namespace of users"


def test_a_place_that_takes_no_group_is_not_counted_on(tmp_path: Path) -> None:
    """Proved by doing: a folder that is none of the kernel's takes no limit."""
    pretended = Place(tmp_path, Version.V2, frozenset({Holds.MEMORY}))
    gone = Place(tmp_path / "gone", Version.V2, frozenset({Holds.TIME}))
    means = replace(USER, places=(pretended, gone))
    assert means.proved().places == ()
    assert list(tmp_path.iterdir()) == []


def test_a_control_stands_in_a_record_with_its_holder() -> None:
    """Which mechanism held it, and who vouches for that."""
    held = HeldControl(Control.MEMORY, 100, Mechanism.CGROUP_V1, Truth.KERNEL)
    assert held.to_json() == {
        "control": "memory_bytes",
        "limit": 100,
        "mechanism": "cgroup-v1",
        "truth": "kernel",
    }
