"""Boxes that are built ahead: as far as all of their kind are alike, waiting for their plan.

The launcher's side. A program that runs others one after the other waits for the rest of a box only;
the next one is made while nothing else is to be done. Each is used once. One that waited long is
not used, because the host may have changed around it, and boxes that nobody comes for are ended.
"""

import _socket
import errno
import os
import time

from consentry.enforce.native import box, calls, reaper
from consentry.enforce.native.copygroups import beside, lift_limits
from consentry.enforce.native.wire import send_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

    Group: TypeAlias = tuple[str, list[str]]
    """A control group's name, and the files by which it is joined."""

_LONGEST_WAIT = 20.0
_LATELY = 1.0
_MOST_KINDS = 4
_P_PIDFD = 3
_SIGKILL = 9


class Start:
    """The first process of a box, and what the launcher hears and says of it over."""

    def __init__(self, plan: "Mapping[str, Any]", files: "Sequence[int]", *, waits: bool) -> None:
        report, report_end = os.pipe()
        mine, its = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        # The kernel says who speaks at the other end.
        mine.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
        with_users = 0 if plan["idmap"] is not None else calls.CLONE_NEWUSER
        try:
            self.pid = calls.clone(box.NEW_NAMESPACES | with_users)
        except OSError:
            os.close(report)
            os.close(report_end)
            raise
        if self.pid == 0:
            os.close(report)
            lives = reaper.live_waiting if waits else reaper.live
            lives(plan, files, report_end, (mine.detach(), its.detach()))
        os.close(report_end)
        its.close()
        self.report = report
        self.gate = mine
        try:
            self.pidfd = os.pidfd_open(self.pid)
        except OSError:
            os.kill(self.pid, _SIGKILL)
            os.waitpid(self.pid, 0)
            mine.close()
            os.close(report)
            raise
        self.since = time.monotonic()
        self.group: Group | None = None

    def end(self) -> None:
        """Of one that nobody needs."""
        os.kill(self.pid, _SIGKILL)
        os.waitid(_P_PIDFD, self.pidfd, os.WEXITED)
        self.gate.close()
        os.close(self.report)
        os.close(self.pidfd)


class WaitingBoxes:
    """Those that wait, by what they were built from, and the control groups that are unused."""

    def __init__(self) -> None:
        self._wanted: dict[Any, tuple[dict[str, Any], int]] = {}
        self._asked_at: dict[Any, float] = {}
        self._boxes: dict[Any, list[Start]] = {}
        self._groups: list[Group] = []

    def start(self, plan: "dict[str, Any]", files: "Sequence[int]") -> Start:
        """A box that goes on with this plan: one that waited, or a new one."""
        uses_groups = "stock" in plan
        self._groups += plan.pop("stock", ())
        limits = plan.pop("group_limits", ())
        waiting = self._boxes.get(_kind(plan), []) if plan.get("ahead") else []
        while waiting:
            found = waiting.pop()
            if not _is_old(found):
                try:
                    _limit(found.group, limits)
                    send_order(found.gate, plan, files[1:])
                except OSError:
                    # It could not be built that far, and why is said by the next one.
                    lift_limits(found.group, limits)
                else:
                    return found
            self._end(found)
        if not uses_groups:
            return Start(plan, files, waits=False)
        group = self._free_group()
        try:
            _limit(group, limits)
            started = Start({**plan, "groups": group[1]}, files, waits=False)
        except OSError:
            lift_limits(group, limits)
            self._groups.append(group)
            raise
        started.group = group
        return started

    def _free_group(self) -> "Group":
        """One that no box is in; where all have one, the box that waited longest gives its up."""
        if not self._groups:
            waiting = [each for boxes in self._boxes.values() for each in boxes]
            if not waiting:
                raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN), "a control group")
            longest = min(waiting, key=lambda each: each.since)
            for boxes in self._boxes.values():
                if longest in boxes:
                    boxes.remove(longest)
            self._end(longest)
        return self._groups.pop()

    def wish_for(self, plan: "dict[str, Any]", *, uses_groups: bool) -> None:
        """More of that kind, as many as the plan's owner wants ahead."""
        if plan.get("ahead", 0):
            kind = _kind(plan)
            base = {name: plan[name] for name in ("root", "ids", "idmap")}
            base["steps"] = plan["steps"][: plan["alike"]]
            base["uses_groups"] = uses_groups
            self._wanted.pop(kind, None)
            self._wanted[kind] = (base, plan["ahead"])
            now = self._asked_at[kind] = time.monotonic()
            while len(self._wanted) > _MOST_KINDS:
                self._drop(next(iter(self._wanted)))
            if not self._groups:
                # Those that nobody asked for lately make room.
                for other in [each for each, at in self._asked_at.items() if now - at > _LATELY]:
                    self._drop(other)

    def is_short(self) -> bool:
        """Whether fewer wait than are wanted."""
        return any(self._lacks(kind) for kind in self._wanted)

    def _lacks(self, kind: object) -> bool:
        base, ahead = self._wanted[kind]
        may_make = bool(self._groups) or not base["uses_groups"]
        return may_make and len(self._boxes.get(kind, ())) < ahead

    def is_empty(self) -> bool:
        """Whether nobody waits."""
        return not any(self._boxes.values())

    def make_one(self, shown_as: "Mapping[int, int]") -> None:
        """Of the kind that was asked for last and is short.

        `shown_as` has the namespaces that show files as those of another user, by its number.
        """
        for kind, (base, _) in reversed(self._wanted.items()):
            if self._lacks(kind):
                other = shown_as.get(base["ids"][0])
                files, idmap = ([], None) if other is None else ([other], 0)
                group = self._groups.pop() if base["uses_groups"] else None
                doors = () if group is None else group[1]
                try:
                    made = Start({**base, "idmap": idmap, "groups": doors}, files, waits=True)
                except OSError:
                    # Short of processes or descriptors: those that run need them more.
                    self._groups += [] if group is None else [group]
                    self._drop(kind)
                    return
                made.group = group
                self._boxes.setdefault(kind, []).insert(0, made)
                return

    def end_old(self) -> None:
        """Those that waited too long; no more of their kind are made until somebody asks."""
        for kind, waiting in list(self._boxes.items()):
            if any(map(_is_old, waiting)):
                self._drop(kind)

    def _drop(self, kind: object) -> None:
        self._wanted.pop(kind, None)
        self._asked_at.pop(kind, None)
        for each in self._boxes.pop(kind, ()):
            self._end(each)

    def _end(self, waiting: Start) -> None:
        waiting.end()
        if waiting.group is not None:
            self._groups.append(waiting.group)


def _limit(group: "Group | None", limits: "Sequence[tuple[int, str, int, bool]]") -> None:
    """Sets the limits of a group, before anything that they are for is in it."""
    doors = () if group is None else group[1]
    for place, name, value, may_lack in limits if doors else ():
        try:
            file = beside(doors[place], name)
            descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            if may_lack:
                continue
            raise
        try:
            os.write(descriptor, b"%d" % value)
        finally:
            os.close(descriptor)


def _kind(plan: "Mapping[str, Any]") -> object:
    return (plan["ids"], plan["steps"][: plan["alike"]])


def _is_old(waiting: Start) -> bool:
    return time.monotonic() - waiting.since > _LONGEST_WAIT
