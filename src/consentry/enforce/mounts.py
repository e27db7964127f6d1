"""What the mount table tells: control groups, a whole /proc, and second names for the same files.

Readings of `/proc/self/mountinfo` and `/proc/self/cgroup`; whether a group really takes a limit is
known only when one is set.
"""

import os
import re
from pathlib import Path, PurePosixPath

from consentry.base.values import dataclass
from consentry.enforce.facts import Fact, Found, HostView

SOURCE = "/proc/self/mountinfo"

# Mount points made for this purpose: a mount on one of them hides no part of /proc.
_PROC_MOUNT_POINTS = ("/proc/sys/fs/binfmt_misc", "/proc/fs/nfsd", "/proc/openprom")

_OWN_GROUPS = "/proc/self/cgroup"
_WANTED_LIMITS = ("memory", "pids")

# File systems on which there is no way to make a socket or a pipe with a name.
_SOCKETLESS = ("vfat", "msdos", "exfat")

_FIELDS_BEFORE_DASH = 6
_FIELDS_AFTER_DASH = 3


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of the mount table, as far as it is needed."""

    device: str
    root: str
    point: str
    kind: str
    options: tuple[str, ...]


def read_mounts(view: HostView) -> tuple[Mount, ...] | None:
    """The mount table of this process, or None when it cannot be read."""
    text = view.read(SOURCE)
    if text is None:
        return None
    return tuple(mount for line in text.splitlines() if (mount := _mount(line)) is not None)


def _mount(line: str) -> Mount | None:
    front, separator, back = line.partition(" - ")
    fields, tail = front.split(" "), back.split(" ")
    if not separator or len(fields) < _FIELDS_BEFORE_DASH or len(tail) < _FIELDS_AFTER_DASH:
        return None
    root, point = _unescape(fields[3]), _unescape(fields[4])
    return Mount(fields[2], root, point, tail[0], tuple(tail[2].split(",")))


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def share_files(path: Path, folder: Path, mounts: tuple[Mount, ...]) -> bool:
    """Whether `path` lies in `folder` under any name; both have their links resolved.

    A bind mount gives the same files a second name. What a mount shows is a folder of a file
    system, so both paths are compared by device and by their place in that file system. Mounts
    below `folder` belong to it.
    """
    place = _place_on_device(path, mounts)
    within = [_place_on_device(folder, mounts)]
    within += [
        (mount.device, PurePosixPath(mount.root))
        for mount in mounts
        if _is_below(mount.point, str(folder))
    ]
    return place is not None and any(
        other is not None and place[0] == other[0] and place[1].is_relative_to(other[1])
        for other in within
    )


def is_socketless(path: Path, mounts: tuple[Mount, ...]) -> bool:
    """Whether nobody can listen in that folder, because of what it is mounted from."""
    mount = _mount_over(path, mounts)
    return mount is not None and mount.kind in _SOCKETLESS


def _mount_over(path: Path, mounts: tuple[Mount, ...]) -> Mount | None:
    # Of two mounts on one point the later one covers the earlier.
    name = str(path)
    over = [mount for mount in reversed(mounts) if _is_below(name, mount.point)]
    return max(over, key=lambda mount: len(mount.point), default=None)


def _is_below(name: str, folder: str) -> bool:
    """Whether one plain path is the other or lies in it; asked for every mount, for every run."""
    return folder in (name, "/") or name.startswith(f"{folder}/")


def _place_on_device(path: Path, mounts: tuple[Mount, ...]) -> tuple[str, PurePosixPath] | None:
    mount = _mount_over(path, mounts)
    if mount is None:
        return None
    return mount.device, PurePosixPath(mount.root) / path.relative_to(mount.point)


def cgroup_fact(mounts: tuple[Mount, ...] | None) -> Fact:
    """Which versions of control groups are mounted."""
    name, source = "cgroup", SOURCE
    if mounts is None:
        return Fact(name, Found.UNKNOWN, "", f"{source} cannot be read")
    versions = [
        word
        for word, kind in (("v1", "cgroup"), ("v2", "cgroup2"))
        if any(mount.kind == kind for mount in mounts)
    ]
    if not versions:
        return Fact(name, Found.NO, "not mounted", f"no cgroup mount in {source}")
    return Fact(name, Found.YES, " and ".join(versions), f"mounts listed in {source}")


def cgroup_delegation_fact(view: HostView, mounts: tuple[Mount, ...] | None) -> Fact:
    """Whether this process may make groups of its own that limit memory and processes."""
    name = "cgroup-delegation"
    groups = view.read(_OWN_GROUPS)
    if mounts is None or groups is None:
        return Fact(name, Found.UNKNOWN, "", f"{_OWN_GROUPS} or {SOURCE} cannot be read")
    ours: dict[str, str] = {}
    closed: dict[str, str] = {}
    for line in groups.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        place = place_of_group(mounts, controllers, path)
        if place is not None:
            side = ours if _may_write(view, controllers, place) else closed
            side.update(dict.fromkeys(_limits_of_group(view, controllers, place), place))
    missing = [limit for limit in _WANTED_LIMITS if limit not in ours]
    if not missing:
        why = f"its own groups by {_OWN_GROUPS} may be written: {ours[_WANTED_LIMITS[0]]}"
        return Fact(name, Found.YES, " ".join(_WANTED_LIMITS), why)
    if missing[0] in closed:
        return Fact(name, Found.NO, "not writable", f"{closed[missing[0]]} may not be written")
    why = f"no group of {_OWN_GROUPS} limits {missing[0]}"
    return Fact(name, Found.NO, f"no {missing[0]} group", why)


def place_of_group(mounts: tuple[Mount, ...], controllers: str, path: str) -> str | None:
    """Where a group shows that a line of `/proc/self/cgroup` names, or None when it shows nowhere."""
    for mount in mounts:
        if controllers == "":
            fits = mount.kind == "cgroup2"
        else:
            fits = mount.kind == "cgroup" and set(controllers.split(",")) <= set(mount.options)
        if fits:
            below = path.removeprefix(mount.root.rstrip("/")).strip("/")
            return f"{mount.point}/{below}" if below else mount.point
    return None


def _limits_of_group(view: HostView, controllers: str, place: str) -> list[str]:
    if controllers:
        return [word for word in controllers.split(",") if "=" not in word]
    return (view.read_word(f"{place}/cgroup.controllers") or "").split()


def _may_write(view: HostView, controllers: str, place: str) -> bool:
    needed = ["", "cgroup.procs"] if controllers else ["", "cgroup.procs", "cgroup.subtree_control"]
    return all(os.access(view.at(f"{place}/{name}"), os.W_OK) for name in needed)


def whole_proc_fact(mounts: tuple[Mount, ...] | None) -> Fact:
    """Whether all of /proc shows; where parts are covered, the kernel refuses users a fresh one."""
    name, source = "whole-proc", SOURCE
    if mounts is None:
        return Fact(name, Found.UNKNOWN, "", f"{source} cannot be read")
    covered = [
        mount.point
        for mount in mounts
        if mount.point.startswith("/proc/") and mount.point not in _PROC_MOUNT_POINTS
    ]
    if covered:
        why = f"{source} shows mounts over {', '.join(sorted(set(covered))[:3])}"
        return Fact(name, Found.NO, f"{len(set(covered))} parts covered", why)
    return Fact(name, Found.YES, "", f"{source} shows no mount over a part of /proc")
