"""The warm parent of runs without namespaces.

As `launcher`, with two differences. What it starts stays in the host's own tree, so there is nothing
to build ahead. And where the caller is root it becomes another user before it takes the first
request, for good: nothing that it starts was ever root's, and it needs no power over another user to
observe them.
"""

import _socket
import os

from consentry.enforce.native import barestart, calls, restraint, wire
from consentry.enforce.native.launcher import Launcher
from consentry.enforce.native.observer import Observer
from consentry.enforce.native.waiting import Start, WaitingBoxes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_INT = 4
_SIGKILL = 9


class BareStart(Start):
    """The keeper of a run, heard of and ended as the first process of a box is.

    `pid` is the starter's, below which the program is; what is signalled is the keeper.
    """

    def __init__(self, plan: "Mapping[str, Any]", files: "Sequence[int]") -> None:
        self.group = None
        launcher = os.getpid()
        self.gate, its = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self.gate.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
        opened: list[int] = []
        keeper = 0
        try:
            for _ in range(2):
                opened += os.pipe()
            self.report, report_end, number, told = opened
            keeper = os.fork()
            if keeper == 0:
                barestart.keep(plan, files, (report_end, its.fileno(), told), launcher)
            # Or nobody could tell that there will be no number.
            os.close(opened.pop())
            self.pidfd = os.pidfd_open(keeper)
        except OSError:
            self.gate.close()
            its.close()
            for descriptor in opened:
                os.close(descriptor)
            if keeper:
                os.kill(keeper, _SIGKILL)
                os.waitpid(keeper, 0)
            raise
        its.close()
        os.close(report_end)
        self.pid = int.from_bytes(os.read(number, _INT), "little") or keeper
        os.close(number)


class BareStarts(WaitingBoxes):
    """Nobody waits here."""

    def start(self, plan: "dict[str, Any]", files: "Sequence[int]") -> Start:
        """A run that goes on with this plan."""
        return BareStart(plan, files)

    def wish_for(self, plan: "dict[str, Any]", *, uses_groups: bool) -> None:
        """There is nothing that could be made before the plan is known."""


class BareLauncher(Launcher):
    """Waits for requests, listeners, reports and deaths, and does what each needs."""

    def __init__(self, control: int, uid: int, gid: int) -> None:
        super().__init__(control)
        self._waiting = BareStarts()
        self._problem: OSError | None = None
        if os.getuid() == 0:
            try:
                _become(uid, gid)
            except OSError as problem:
                self._problem = problem

    def _carry_out(self, news: _socket.socket, plan: "dict[str, Any]", files: "list[int]") -> None:
        if self._problem is not None:
            number = self._problem.errno or 0
            raise OSError(number, os.strerror(number), "becoming another user")
        super()._carry_out(news, plan, files)

    def _take_descriptor(self, run: "Any") -> None:
        said, ancillary = wire.heard(run.gate, 1, _socket.CMSG_SPACE(4) + _socket.CMSG_SPACE(12))
        taken = wire.passed(ancillary)
        if said == b"s":
            wire.send(run.news, ("built", 0, ""))
        elif said == b"l" and taken:
            observer = run.observer = Observer(taken[0], calls.MACHINE)
            self.watch(run, taken[0], lambda events: self.serve(run, observer, events))
        else:
            self.forget(run, run.gate.fileno())


def _become(uid: int, gid: int) -> None:
    try:  # noqa: SIM105 - contextlib is slow to load
        calls.drop_bounding_set()
    except PermissionError:
        pass  # what it bounds is not to be had without capabilities, which are given up below
    restraint.become(uid, gid)
    calls.drop_capabilities()
    # Or its own files in /proc would still be root's.
    calls.prctl(calls.PR_SET_DUMPABLE, 1)
