"""The launcher's side of the workers: which there are, their copies, and which run each one gets.

A copy is asked for before there is a run for it, and waits, confined, until an order comes; an order
that finds none waits for the next. A copy has one order in its life.
"""

import _socket
import errno
import marshal
import os

from consentry.enforce.native import box, calls, copygroups, snippet, wire, worker
from consentry.enforce.native.askednames import AskedNames
from consentry.enforce.native.lostdatagrams import LostDatagrams
from consentry.enforce.native.observer import Observer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from consentry.enforce.native.copygroups import Group, Limit

    class Desk(Protocol):
        """What the launcher does for every run; it says how."""

        def listen(self, descriptor: int, does: "Callable[[int], None]") -> None:  # noqa: D102
            ...

        def ignore(self, descriptor: int) -> None:  # noqa: D102
            ...

        def watch(  # noqa: D102
            self, run: "Any", descriptor: int, does: "Callable[[int], None]"
        ) -> None: ...

        def forget(self, run: "Any", descriptor: int) -> None:  # noqa: D102
            ...

        def hear(self, run: "Any", events: int) -> None:  # noqa: D102
            ...

        def serve(self, run: "Any", observer: Observer, events: int) -> None:  # noqa: D102
            ...

        def finish(self, run: "Any", status: int) -> None:  # noqa: D102
            ...

        def have_calls_held(  # noqa: D102
            self,
            run: "Any",
            observer: Observer,
            program: int,
            wish: "dict[str, Any]",
            line: _socket.socket,
        ) -> None: ...

        def end_with_owner(self, run: "Any") -> None:  # noqa: D102
            ...


_P_PIDFD = 3
_SIGKILL = 9
_GREETING_BYTES = 1 << 16
_MOST_SAID = 4096
_KEPT_READY = 2
_USED_OFTEN = 2
_MOST_READY = 8


class _Worker:
    """One worker, and the copies of it that have no order yet."""

    def __init__(
        self,
        requests: _socket.socket,
        ids: "tuple[int, int]",
        *,
        is_kept_ready: bool,
        has_ways: bool,
    ) -> None:
        self.requests = requests
        self.ids = ids
        self.is_kept_ready = is_kept_ready
        self.has_ways = has_ways
        self.is_there = True
        self.is_greeted = False
        self.uses_groups = False
        self.orders = 0
        self.copies: list[_Copy] = []


class _Order:
    """A run that was asked for: whom to tell, the limits of its group, and what the copy is sent."""

    def __init__(
        self,
        news: _socket.socket,
        limits: "Sequence[Limit]",
        body: bytes,
        files: "Sequence[int]",
        hold: "dict[str, Any] | None",
    ) -> None:
        self.news = news
        self.limits = limits
        self.body = body
        self.files = files
        self.hold = hold


class _Copy:
    """One copy of a worker, as the launcher sees it; the worker is its parent."""

    def __init__(self, of: _Worker, group: "Group | None") -> None:
        self.worker = of
        self.group = group
        self.has_joined = False
        self.news: _socket.socket | None = None
        self.order: _Order | None = None
        self.observer: Observer | None = None
        self.store: int | None = None
        self.has_layer = False
        self.told_ways = b""
        self.names: AskedNames | None = None
        self.lost: LostDatagrams | None = None
        self.line: _socket.socket | None = None
        self.watched: set[int] = set()
        self.pid = 0
        self.pidfd = -1
        self.is_over = False
        self.told = b""
        self.report, report_end = os.pipe()
        self.gate, its = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        # The kernel's word for who is speaking, in the numbers of our own namespace.
        self.gate.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
        doors = [] if group is None else copygroups.opened(group)
        try:
            of.requests.sendmsg([b"c"], wire.rights((report_end, its.fileno(), *doors)))
        except OSError:
            self.gate.close()
            os.close(self.report)
            raise _no_worker() from None
        finally:
            its.close()
            for descriptor in (report_end, *doors):
                os.close(descriptor)

    @property
    def is_ready(self) -> bool:
        """Whether it waits for its order."""
        return self.observer is not None


class Workers:
    """All workers of one launcher, by name."""

    def __init__(self, desk: "Desk") -> None:
        self._desk = desk
        self._workers: dict[str, _Worker] = {}
        self._groups: list[Group] = []

    def start(self, news: _socket.socket, plan: "dict[str, Any]", files: "Sequence[int]") -> None:
        """Makes a worker; the news tell when it is ready, or why it is not."""
        mine, its = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        with_users = 0 if plan["idmap"] is not None else calls.CLONE_NEWUSER
        pid = calls.clone(box.NEW_NAMESPACES | with_users)
        if pid == 0:
            worker.live(plan, files, its.detach())
        its.close()
        made = self._workers[plan["name"]] = _Worker(
            mine, plan["ids"], is_kept_ready=plan["ahead"], has_ways=bool(plan["run"]["ways"])
        )
        pidfd = os.pidfd_open(pid)
        self._desk.listen(pidfd, lambda _: self._bury(plan["name"], made, pidfd))
        self._desk.listen(mine.fileno(), lambda _: self._greet(made, news))

    def _greet(self, made: _Worker, news: _socket.socket) -> None:
        said, _ = wire.heard(made.requests, _GREETING_BYTES)
        self._desk.ignore(made.requests.fileno())
        made.is_greeted = True
        greeting = marshal.loads(said) if said else ("failed", 0, "the worker ended")  # noqa: S302
        wire.send(news, greeting)
        news.close()
        if not made.is_there:
            made.requests.close()

    def _bury(self, name: str, made: _Worker, pidfd: int) -> None:
        os.waitid(_P_PIDFD, pidfd, os.WEXITED)
        self._desk.ignore(pidfd)
        os.close(pidfd)
        if self._workers.get(name) is made:
            self.end(name)

    def end(self, name: str) -> None:
        """Asks nothing of it any more; it goes when its last run is over."""
        made = self._workers.pop(name, None)
        if made is None:
            return
        made.is_there = False
        for copy in list(made.copies):
            self._discard(copy)
        # One that has something to say yet is heard first.
        if made.is_greeted:
            made.requests.close()

    def order(self, news: _socket.socket, plan: "dict[str, Any]", files: "Sequence[int]") -> None:
        """Gives the run to a copy that waits, or to the next one."""
        of = self._workers.get(plan["worker"])
        if of is None:
            raise _no_worker()
        self._groups += plan.get("stock", ())
        of.uses_groups = "stock" in plan
        ready = [copy for copy in of.copies if copy.is_ready]
        copy = (ready or of.copies or [self._asked_for(of)])[0]
        body = marshal.dumps(plan["rlimits"])
        kept = [os.dup(each) for each in files[1 : 1 + snippet.ORDERED]]
        of.orders += 1
        of.copies.remove(copy)
        hold = plan.get("hold")
        if hold is not None:
            copy.line = _socket.socket(fileno=os.dup(files[hold["line"]]))
            hold = {**hold, "ids": of.ids, "is_root": os.getuid() == 0}
        copy.order = _Order(news, plan.get("group_limits", ()), body, kept, hold)
        if copy.is_ready:
            self._hand_over(copy, copy.order)

    def _asked_for(self, of: _Worker) -> _Copy:
        copy = _Copy(of, self._groups.pop() if of.uses_groups and self._groups else None)
        of.copies.append(copy)
        self._desk.watch(copy, copy.report, lambda events: self._hear(copy, events))
        self._desk.watch(copy, copy.gate.fileno(), lambda _: self._meet(copy))
        return copy

    def _meet(self, copy: _Copy) -> None:
        """It is ready, or could not be made, or is gone."""
        space = _socket.CMSG_SPACE(12)
        said, ancillary = wire.heard(copy.gate, _MOST_SAID, space)
        self._desk.forget(copy, copy.gate.fileno())
        if said[:1] == snippet.FAILED:
            self._discard(copy, *marshal.loads(said[1:]))  # noqa: S302 - from our own copy
        elif said[:1].lower() in (snippet.READY, snippet.WITH_LAYER):
            copy.has_layer = said[:1].lower() == snippet.WITH_LAYER
            copy.has_joined = said[:1].isupper()
            self._know(copy, wire.speaker(ancillary), said[1:])
        else:
            self._discard(copy)

    def _know(self, copy: _Copy, pid: int, handed: bytes) -> None:
        kept = 1 + 4 * handed[0]
        try:
            copy.pid, copy.pidfd = pid, os.pidfd_open(pid)
            listener, *stores = wire.fetched(copy.pidfd, handed[1:kept])
        except OSError:
            self._discard(copy)
            return
        copy.store = stores[0] if stores else None
        # Fetched with the order: many copies wait, and each of these is a socket.
        copy.told_ways = handed[kept:]
        observer = copy.observer = Observer(listener, calls.MACHINE)
        self._desk.watch(copy, listener, lambda events: self._desk.serve(copy, observer, events))
        if copy.order is not None:
            self._hand_over(copy, copy.order)

    def _hand_over(self, copy: _Copy, order: _Order) -> None:
        refused = self._refusal(copy, order)
        if refused is not None:
            os.kill(copy.pid, _SIGKILL)
            self._discard(copy, *refused)
            return
        ways: list[int] = []
        try:
            ways = wire.fetched(copy.pidfd, copy.told_ways)
            self._hold(copy, order)
            copy.gate.sendmsg([order.body], wire.rights(order.files))
        except OSError:
            for way in ways:
                os.close(way)
            self._discard(copy)
            return
        copy.news, copy.order = order.news, None
        for descriptor in order.files:
            os.close(descriptor)
        group = "" if copy.group is None else copy.group[0]
        wire.send(copy.news, ("started", copy.pid, group), copy.pidfd)
        stores = () if copy.store is None else (copy.store,)
        wire.send(copy.news, ("built", int(copy.has_layer), ""), *stores)
        self._lead_out(copy, ways)
        self._desk.end_with_owner(copy)

    def _hold(self, copy: _Copy, order: _Order) -> None:
        """What the grants refuse waits from here on, where that is wanted."""
        if order.hold is not None and copy.line is not None and copy.observer is not None:
            line, copy.line = copy.line, None
            self._desk.have_calls_held(copy, copy.observer, copy.pid, order.hold, line)

    def _lead_out(self, copy: _Copy, ways: "Sequence[int]") -> None:
        """To the owner's proxy; without one, names are asked for here, and refused."""
        if not copy.worker.has_ways:
            names = copy.names = AskedNames(ways)
            for each in names.heard_at():
                self._desk.watch(copy, each, lambda _: names.hear())
            return
        copy.lost = LostDatagrams(copy.pid)
        if copy.news is not None:
            wire.send(copy.news, ("ways", 0, ""), *ways)
        for way in ways:
            os.close(way)

    def _refusal(self, copy: _Copy, order: _Order) -> "tuple[int, str] | None":
        """Why the copy cannot be held to the limits of its run; None where it is from now on."""
        if not copy.worker.uses_groups:
            return None
        if copy.group is None:
            copy.group = self._freed_group()
        if copy.group is None:
            return errno.ENOENT, "a control group"
        return copygroups.refusal(copy.group, order.limits, None if copy.has_joined else copy.pid)

    def _freed_group(self) -> "Group | None":
        """One that nobody has, or that a copy has which has no run."""
        if not self._groups:
            for copy in [copy for each in self._workers.values() for copy in each.copies]:
                if copy.group is not None:
                    self._discard(copy)
                    break
        return self._groups.pop() if self._groups else None

    def _hear(self, copy: _Copy, events: int) -> None:
        if copy.news is None:
            # It ended before it had anything to do.
            self._discard(copy)
            return
        self._desk.hear(copy, events)
        if copy.report not in copy.watched:
            self._desk.finish(copy, 0)
            if copy.store is not None:
                os.close(copy.store)
            self._make_ready(copy.worker)

    def _make_ready(self, of: _Worker) -> None:
        """Copies for the next runs, of a worker that is used more than once."""
        if not (of.is_there and of.is_kept_ready and of.orders >= _USED_OFTEN):
            return
        while len(of.copies) < _KEPT_READY:
            try:
                self._asked_for(of)
            except OSError:
                return  # the next order is told
        waiting = [copy for each in self._workers.values() for copy in each.copies]
        for copy in waiting[:-_MOST_READY]:
            if copy.worker is not of:
                self._discard(copy)

    def _discard(self, copy: _Copy, number: int = errno.ESRCH, what: str = "the worker") -> None:
        """Lets go of a copy that has no run; it ends by itself when nobody is there any more."""
        if copy in copy.worker.copies:
            copy.worker.copies.remove(copy)
        if copy.group is not None:
            copygroups.lift_limits(copy.group, () if copy.order is None else copy.order.limits)
            self._groups.append(copy.group)
            copy.group = None
        for descriptor in list(copy.watched):
            self._desk.forget(copy, descriptor)
        order = copy.order
        if order is not None:
            wire.send(order.news, ("failed", number, what))
            order.news.close()
            for descriptor in order.files:
                os.close(descriptor)
        copy.gate.close()
        if copy.line is not None:
            copy.line.close()
        if copy.observer is not None:
            copy.observer.close()
        for descriptor in (copy.report, copy.pidfd, -1 if copy.store is None else copy.store):
            if descriptor >= 0:
                os.close(descriptor)


def _no_worker() -> OSError:
    return OSError(errno.ESRCH, os.strerror(errno.ESRCH), "the worker")
