"""The control groups that copies of a worker have: which are free, and how one is joined and limited.

The owner makes the groups and hands them over. A copy joins one while it is made, because that takes
the kernel milliseconds; the limits are set when there is a run for it.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Group: TypeAlias = tuple[str, list[str]]
    """Its name, and the files by which it is joined."""

    Limit: TypeAlias = tuple[int, str, int, bool]
    """Which place, the file there, what to write, and whether the file may be missing."""


def beside(door: str, name: str) -> str:
    """Another file of the group that has this door."""
    return f"{door.rpartition('/')[0]}/{name}"


def opened(group: "Group") -> "list[int]":
    """The doors of a group, for a process that cannot see them; none where one is gone."""
    doors: list[int] = []
    try:
        for door in group[1]:
            doors.append(os.open(door, os.O_WRONLY | os.O_CLOEXEC))  # noqa: PERF401 - see below
    except OSError:
        for descriptor in doors:
            os.close(descriptor)
        return []
    return doors


def lift_limits(group: "Group | None", limits: "Sequence[Limit]") -> None:
    """Of a run that did not come about: the next one in the group may have none of its own.

    The last first: what holds memory and swap together is never below what holds memory.
    """
    doors = () if group is None else group[1]
    for place, name, _, _ in reversed(limits) if doors else ():
        nothing = b"-1" if name.endswith("_in_bytes") else b"max"
        try:
            descriptor = os.open(beside(doors[place], name), os.O_WRONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            os.write(descriptor, nothing)
        finally:
            os.close(descriptor)


def refusal(group: "Group", limits: "Sequence[Limit]", pid: int | None) -> "tuple[int, str] | None":
    """Limits a group and puts a process into it, if one is named; or why that is refused."""
    doors = group[1]
    wanted = [
        (beside(doors[place], name), value, may_lack) for place, name, value, may_lack in limits
    ]
    if pid is not None:
        wanted += [(door, pid, False) for door in doors]
    for file, value, may_lack in wanted:
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.write(descriptor, b"%d" % value)
            finally:
                os.close(descriptor)
        except FileNotFoundError as problem:
            if not may_lack:
                return problem.errno or 0, file
        except OSError as problem:
            return problem.errno or 0, file
    return None
