"""The warm parent: a small process with one thread that makes boxes on request and watches them.

It holds no secrets and opens nothing but what it is handed. A request is a plan and descriptors,
over the socket it was started with; each run has a socket of its own, over which its news go out
and which it loses when the run ends. When the socket of the owner closes, it ends, and every box
with it.
"""

import _socket
import errno
import marshal
import os
import select

from consentry.enforce.native import box, calls, reaper, worker
from consentry.enforce.native.observer import Observer
from consentry.enforce.native.waiting import Start, WaitingBoxes
from consentry.enforce.native.wire import receive_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_PREFIX = 4
_REPORT_BYTES = 1 << 16
_SERVED_AT_ONCE = 64
_QUIET, _LOOK_AGAIN = 25, 5000  # milliseconds
_P_PIDFD = 3
_SIGKILL = 9


class _Run:
    """One box while it lives, as the launcher sees it."""

    def __init__(self, news: _socket.socket, started: Start) -> None:
        self.news = news
        self.groups: Sequence[str] = ()
        self.observer: Observer | None = None
        self.watched: set[int] = set()
        self.pid = started.pid
        self.pidfd = started.pidfd
        self.report = started.report
        self.gate = started.gate
        self.waits_to_go = False
        self.told = b""


class _Snippet(_Run):
    """One run of a worker; the worker is its parent, and tells of its end by closing the report."""

    def __init__(self, news: _socket.socket, groups: "Sequence[str]") -> None:
        self.news = news
        self.groups = groups
        self.observer = None
        self.watched = set()
        self.report, self.report_end = os.pipe()
        self.gate, self.its = _socketpair()
        self.gate.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
        self.pidfd = -1
        self.waits_to_go = True
        self.told = b""


class Launcher:
    """Waits for requests, listeners, reports and deaths, and does what each needs."""

    def __init__(self, control: int) -> None:
        # The caller's may close the folders of the box to the user that the program becomes.
        os.umask(0o022)
        # Nobody could be waited for where the caller ignores the death of children.
        reaper.forget_signals(kept=reaper.OF_PYTHON)
        # Nor does a program that is run for others get ahead of everybody else.
        if os.sched_getscheduler(0) != os.SCHED_OTHER:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        self._control = _socket.socket(fileno=control)
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._does: dict[int, Any] = {}
        self._workers: dict[str, _socket.socket] = {}
        self._waiting = WaitingBoxes()
        # Root reaches files through mounts that show them as another user's; made once for each.
        self._shown_as: dict[int, int] = {}

    def live(self) -> None:
        """Until the owner is gone."""
        control = self._control.fileno()
        while True:
            happened = self._poll.poll(self._patience())
            if not happened:
                self._use_the_quiet()
            for descriptor, events in happened:
                if descriptor == control:
                    if not self._take_request():
                        return
                elif descriptor in self._does:
                    self._does[descriptor](events)

    def _patience(self) -> int | None:
        """Milliseconds until there is something to do without being told to."""
        if self._waiting.is_short():
            return _QUIET if self._does else 0  # a start is not to be held up
        return None if self._waiting.is_empty() else _LOOK_AGAIN

    def _use_the_quiet(self) -> None:
        self._waiting.end_old()
        if self._waiting.is_short():
            self._waiting.make_one(self._shown_as)

    def _take_request(self) -> bool:
        received = receive_order(self._control)
        if received is None:
            return False
        plan, files = received
        news = _socket.socket(fileno=files[0])
        plan["idmap"] = None
        try:
            if os.getuid() == 0 and "ids" in plan and "worker" not in plan:
                other = self._other_users(plan["ids"][0])
                plan["idmap"] = len(files)
                files.append(os.dup(other))
            self._carry_out(news, plan, files)
        except OSError as problem:
            _send(news, ("failed", problem.errno or 0, str(problem.filename or "uid_map")))
        for descriptor in files[1:]:
            os.close(descriptor)
        return True

    def _other_users(self, first: int) -> int:
        """Where a root that may not do this asks for a box, it is told why."""
        if first not in self._shown_as:
            self._shown_as[first] = _other_users(first)
        return self._shown_as[first]

    def _carry_out(self, news: _socket.socket, plan: "dict[str, Any]", files: "list[int]") -> None:
        if "preload" in plan:
            self._start_worker(news, plan, files)
        elif "unneeded" in plan:
            unneeded = self._workers.pop(plan["unneeded"], None)
            if unneeded is not None:
                unneeded.close()
            _send(news, ("ready", 0, ""))
            news.close()
        elif "worker" in plan:
            self._order(news, plan, files)
        else:
            run = _Run(news, self._waiting.taken(plan, files) or Start(plan, files, waits=False))
            _send(news, ("started", run.pid, ""), run.pidfd)
            self._watch(run, run.report, lambda events: self._hear(run, events))
            self._watch(run, run.pidfd, lambda _: self._bury(run))
            self._watch(run, run.gate.fileno(), lambda _: self._take_descriptor(run))
            self._waiting.wish_for(plan)

    def _start_worker(
        self, news: _socket.socket, plan: "dict[str, Any]", files: "list[int]"
    ) -> None:
        mine, its = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        with_users = 0 if plan["idmap"] is not None else calls.CLONE_NEWUSER
        pid = calls.clone(box.NEW_NAMESPACES | with_users)
        if pid == 0:
            mine.close()
            self._control.close()
            for other in self._workers.values():
                # Or that one would never learn that it is not needed any more.
                other.close()
            worker.live(plan, files, its.detach())
        its.close()
        name = plan["name"]
        self._workers[name] = mine
        pidfd = os.pidfd_open(pid)
        self._does[pidfd] = lambda _: self._bury_worker(name, pidfd)
        self._poll.register(pidfd, select.POLLIN)
        self._does[mine.fileno()] = lambda _: self._greet_worker(mine, news)
        self._poll.register(mine.fileno(), select.POLLIN)

    def _greet_worker(self, mine: _socket.socket, news: _socket.socket) -> None:
        said = mine.recv(_REPORT_BYTES)
        del self._does[mine.fileno()]
        self._poll.unregister(mine.fileno())
        _send(news, marshal.loads(said) if said else ("failed", 0, "the worker ended"))  # noqa: S302
        news.close()

    def _bury_worker(self, name: str, pidfd: int) -> None:
        os.waitid(_P_PIDFD, pidfd, os.WEXITED)
        del self._does[pidfd]
        self._poll.unregister(pidfd)
        os.close(pidfd)
        # One that is not needed any more was let go of before; one that has something to say yet
        # is heard first.
        if name in self._workers and self._workers[name].fileno() not in self._does:
            self._workers.pop(name).close()

    def _order(self, news: _socket.socket, plan: "dict[str, Any]", files: "list[int]") -> None:
        worker_of_it = self._workers.get(plan["worker"])
        if worker_of_it is None:
            raise OSError(errno.ESRCH, os.strerror(errno.ESRCH), "the worker")
        run = _Snippet(news, plan["groups"])
        body = marshal.dumps({**plan, "idmap": None})
        given = [run.report_end, run.its.fileno(), *files[1:]]
        rights = b"".join(each.to_bytes(4, "little") for each in given)
        ancillary = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)]
        try:
            worker_of_it.sendmsg([body], ancillary)
        except OSError:
            run.gate.close()
            os.close(run.report)
            raise
        finally:
            run.its.close()
            os.close(run.report_end)
        self._watch(run, run.report, lambda events: self._hear_snippet(run, events))
        self._watch(run, run.gate.fileno(), lambda _: self._take_descriptor(run))

    def _hear_snippet(self, run: "_Snippet", events: int) -> None:
        self._hear(run, events)
        if run.report not in run.watched:
            self._close(run, 0)

    def _watch(self, run: _Run, descriptor: int, does: "Any") -> None:
        self._does[descriptor] = does
        run.watched.add(descriptor)
        self._poll.register(descriptor, select.POLLIN)

    def _forget(self, run: _Run, descriptor: int) -> None:
        if descriptor in run.watched:
            run.watched.remove(descriptor)
            del self._does[descriptor]
            self._poll.unregister(descriptor)

    def _take_descriptor(self, run: _Run) -> None:
        space = _socket.CMSG_SPACE(4) + _socket.CMSG_SPACE(12)
        said, ancillary, _, _ = run.gate.recvmsg(1, space, _socket.MSG_CMSG_CLOEXEC)
        taken = []
        for _, kind, data in ancillary:
            if kind == _socket.SCM_RIGHTS:
                taken.append(int.from_bytes(data[:4], "little"))
            elif kind == _socket.SCM_CREDENTIALS and run.pidfd < 0 and said:
                # The kernel's word for who is speaking, in the numbers of our own namespace.
                run.pid = int.from_bytes(data[:4], "little")
                run.pidfd = os.pidfd_open(run.pid)
                _send(run.news, ("started", run.pid, ""), run.pidfd)
                if not _join(run.groups, run):
                    return
        if said == b"b":
            _send(run.news, ("built", len(taken), ""), *taken)
            for descriptor in taken:
                os.close(descriptor)
        elif said == b"l" and taken:
            observer = Observer(taken[0], calls.MACHINE)
            run.observer = observer
            self._watch(run, taken[0], lambda events: self._serve(run, observer, events))
        else:
            self._forget(run, run.gate.fileno())
            return
        if run.waits_to_go:
            run.gate.send(b"g")

    def _serve(self, run: _Run, observer: Observer, events: int) -> None:
        if not events & select.POLLIN or not observer.serve():
            self._forget(run, observer.listener)

    def _hear(self, run: _Run, events: int) -> None:
        part = os.read(run.report, _REPORT_BYTES) if events & select.POLLIN else b""
        if not part:
            self._forget(run, run.report)
            return
        run.told += part
        while len(run.told) >= _PREFIX and len(run.told) >= _PREFIX + _length(run.told):
            end = _PREFIX + _length(run.told)
            message = marshal.loads(run.told[_PREFIX:end])  # noqa: S302 - from our own box
            run.told = run.told[end:]
            _send(run.news, message)

    def _bury(self, run: _Run) -> None:
        if run.report in run.watched:
            self._hear(run, select.POLLIN)
            self._forget(run, run.report)
        waited = os.waitid(_P_PIDFD, run.pidfd, os.WEXITED)
        self._close(run, waited.si_status if waited is not None else 0)

    def _close(self, run: _Run, status: int) -> None:
        for descriptor in list(run.watched):
            self._forget(run, descriptor)
        notes = {} if run.observer is None else run.observer.notes()
        notes["status"] = status
        held = os.memfd_create("notes", os.MFD_CLOEXEC)
        os.write(held, marshal.dumps(notes))
        _send(run.news, ("over", 0, ""), held)
        os.close(held)
        if run.observer is not None:
            run.observer.close()
        run.news.close()
        run.gate.close()
        os.close(run.report)
        if run.pidfd >= 0:
            os.close(run.pidfd)


def _other_users(first: int) -> int:
    """A user namespace that shows host user 0 and its neighbours as others, from that number on."""
    ready, told = os.pipe()
    pid = calls.clone(calls.CLONE_NEWUSER)
    if pid == 0:
        os.close(told)
        os.read(ready, 1)
        os._exit(0)
    os.close(ready)
    try:
        for name in ("uid_map", "gid_map"):
            descriptor = os.open(f"/proc/{pid}/{name}", os.O_WRONLY | os.O_CLOEXEC)
            os.write(descriptor, b"0 %d 65536" % first)
            os.close(descriptor)
        return os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(told)
        os.waitpid(pid, 0)


def _join(groups: "Sequence[str]", run: _Run) -> bool:
    """Puts a snippet, which cannot see the groups, into its own before it is told to go on."""
    for door in groups:
        try:
            descriptor = os.open(door, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.write(descriptor, b"%d" % run.pid)
            finally:
                os.close(descriptor)
        except OSError as problem:
            _send(run.news, ("failed", problem.errno or 0, door))
            os.kill(run.pid, _SIGKILL)
            return False
    return True


def _length(told: bytes) -> int:
    return int.from_bytes(told[:_PREFIX], "little")


def _send(news: _socket.socket, message: object, *descriptors: int) -> None:
    body = marshal.dumps(message)  # type: ignore[arg-type]
    rights = b"".join(each.to_bytes(4, "little") for each in descriptors)
    ancillary = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)] if rights else []
    try:
        news.sendmsg([body], ancillary)
    except OSError as problem:
        if problem.errno not in (errno.EPIPE, errno.ECONNRESET):
            raise


def _socketpair() -> "tuple[_socket.socket, _socket.socket]":
    a, b = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    return a, b
