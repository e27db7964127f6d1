"""Where this process may make control groups, and what a group made there can hold.

Version 1 has a tree for each kind of resource; a group is made below our own, so that every limit
on us goes on to hold. Version 2 has one tree, in which a group that hands limits on to others may
hold no process itself: there the group is made beside our own, in the nearest group above it that
we may write and that hands limits on. A group that limits us is never stepped out of.
"""

import os
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.facts import HostView
from consentry.enforce.mounts import Mount, place_of_group, read_mounts

_OWN_GROUPS: Final = "/proc/self/cgroup"
# A value that begins with "max" is no limit.
_LIMITS_OF_OURS: Final = ("memory.max", "memory.high", "cpu.max")


class Holds(StrEnum):
    """What a group is good for: two limits, a measure, and one share of the processors.

    With a share of its own a box of a thousand processes gets no more than another of one.
    """

    MEMORY = "memory"
    PIDS = "pids"
    TIME = "time"
    SHARE = "share"


_FIRST_VERSION: Final = {
    "memory": Holds.MEMORY,
    "pids": Holds.PIDS,
    "cpuacct": Holds.TIME,
    "cpu": Holds.SHARE,
}
_SECOND_VERSION: Final = {"memory": Holds.MEMORY, "pids": Holds.PIDS, "cpu": Holds.SHARE}


class Version(StrEnum):
    """Of control groups; the values are the words of a record."""

    V1 = "cgroup-v1"
    V2 = "cgroup-v2"


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in which groups can be made."""

    folder: Path
    version: Version
    holds: frozenset[Holds]


def find_places(view: HostView) -> tuple[Place, ...]:
    """The places that give everything there is, each kind of resource from one of them only.

    A reading: whether a group can be made and takes a limit is known when one is made.
    """
    mounts = read_mounts(view) or ()
    found: list[Place] = []
    for line in (view.read(_OWN_GROUPS) or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        own = place_of_group(mounts, controllers, path)
        if own is None:
            continue
        place = _first(view, controllers, own) if controllers else _second(view, mounts, own)
        if place is not None:
            found.append(place)
    return tuple(_without_repeats(found))


def _first(view: HostView, controllers: str, own: str) -> Place | None:
    holds = {_FIRST_VERSION[word] for word in controllers.split(",") if word in _FIRST_VERSION}
    if not holds or not _may_write(view, own):
        return None
    return Place(view.at(own), Version.V1, frozenset(holds))


def _second(view: HostView, mounts: tuple[Mount, ...], own: str) -> Place | None:
    points = {mount.point for mount in mounts if mount.kind == "cgroup2"}
    current = PurePosixPath(own)
    while True:
        handed_on = (view.read(f"{current}/cgroup.subtree_control") or "").split()
        holds = {_SECOND_VERSION[word] for word in handed_on if word in _SECOND_VERSION}
        if holds and _may_write(view, str(current)):
            return Place(view.at(str(current)), Version.V2, frozenset({*holds, Holds.TIME}))
        if str(current) in points or _is_limited(view, str(current)):
            break
        current = current.parent
        if current == current.parent:
            break
    if _may_write(view, own):  # every group of this version counts processor time
        return Place(view.at(own), Version.V2, frozenset({Holds.TIME}))
    return None


def _may_write(view: HostView, group: str) -> bool:
    return all(os.access(view.at(f"{group}/{name}"), os.W_OK) for name in ("", "cgroup.procs"))


def _is_limited(view: HostView, group: str) -> bool:
    return any(
        not (view.read_word(f"{group}/{name}") or "max").startswith("max")
        for name in _LIMITS_OF_OURS
    )


def _without_repeats(found: list[Place]) -> list[Place]:
    """Version 2 first, which can end every process of a group in one step; but not for time alone.

    To join a group of version 2 takes the kernel milliseconds, of which version 1 takes none.
    """
    chosen: list[Place] = []
    taken: set[Holds] = set()
    for place in sorted(found, key=_rank):
        left = place.holds - taken
        if left:
            chosen.append(Place(place.folder, place.version, frozenset(left)))
            taken |= left
    return chosen


def _rank(place: Place) -> int:
    if place.version is Version.V1:
        return 1
    return 2 if place.holds == {Holds.TIME} else 0
