"""Follows names that lead through a process: its open files, its folder, its root.

The kernel follows such a link to the thing itself and not to a name, and follows none of them for
somebody who is not to leave a root. So a name that meets one is followed here, part by part. It is
seldom needed: by `/dev/stdin`, and by whoever wants to read a file without naming it.
"""

import os

from consentry.enforce.native import calls

_KIND, _FOLDER, _LINK = 0o170000, 0o040000, 0o120000
_MOST_LINKS = 40
_DELETED = b" (deleted)"


def followed(
    root: int, how: object, pid: int, whole: bytes, *, keeps_link: bool
) -> "tuple[bytes, bool] | None":
    """The place that a name leads to, and whether it is a folder; None where there is no such place.

    `how` opens a name below the root without following a link at its end. What was removed while it
    is open has the name that it had.
    """
    place, links = b"", 0
    waiting = whole.split(b"/")[::-1]
    is_folder = True
    while waiting:
        name = waiting.pop()
        if name in (b"", b"."):
            continue
        if name == b"..":
            place, is_folder = place.rpartition(b"/")[0], True
            continue
        place = _of_the_process(pid, place + b"/" + name)
        is_followed = bool(waiting) or not keeps_link
        looked_at = _looked_at(root, how, place, is_followed=is_followed)
        if looked_at is None:
            return None
        is_folder, target = looked_at
        if target is None:
            continue
        links += 1
        if links > _MOST_LINKS:
            return None
        leads_to_a_thing = place.startswith(b"/proc/")
        if target.startswith(b"/"):
            if leads_to_a_thing and target.endswith(_DELETED) and not any(waiting):
                return target.removesuffix(_DELETED), False
            place = b""
        elif leads_to_a_thing and b":[" in target:
            return None  # a pipe or a socket, which lies nowhere
        else:
            place = place.rpartition(b"/")[0]
        waiting += target.split(b"/")[::-1]
    return place or b"/", is_folder


def _looked_at(
    root: int, how: object, place: bytes, *, is_followed: bool
) -> "tuple[bool, bytes | None] | None":
    """Whether it is a folder, and what it leads to if it is a link that is followed."""
    opened = calls.openat2_quickly(root, place, how)
    if opened < 0:
        return None
    try:
        kind = os.fstat(opened).st_mode & _KIND
        target = os.readlink(b"", dir_fd=opened) if kind == _LINK and is_followed else None
    finally:
        os.close(opened)
    return kind == _FOLDER, target


def _of_the_process(pid: int, place: bytes) -> bytes:
    """Two links in `/proc` mean whoever follows them, which is not us."""
    if place == b"/proc/self":
        return b"/proc/%d" % inner_number(pid, b"NStgid:")
    if place == b"/proc/thread-self":
        return b"/proc/%d/task/%d" % (
            inner_number(pid, b"NStgid:"),
            inner_number(pid, b"NSpid:"),
        )
    return place


def inner_number(pid: int, kind: bytes) -> int:
    """The process's or the thread's number inside the box."""
    descriptor = os.open(b"/proc/%d/status" % pid, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = os.read(descriptor, 4096)
    finally:
        os.close(descriptor)
    line = status.partition(kind)[2].partition(b"\n")[0]
    return int(line.split()[-1]) if line.split() else pid
