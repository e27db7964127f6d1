"""The warm parent: a small process with one thread that makes boxes on request and watches them.

It holds no secrets and opens nothing but what it is handed. A request is a plan and descriptors,
over the socket it was started with; each run has a socket of its own, over which its news go out
and which it loses when the run ends. When the socket of the owner closes, it ends, and every box
with it.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import os
import select
import time

from consentry.enforce.native import calls, reaper, wire
from consentry.enforce.native.askednames import AskedNames
from consentry.enforce.native.copies import Workers
from consentry.enforce.native.exactreads import ExactReads
from consentry.enforce.native.lostdatagrams import LostDatagrams
from consentry.enforce.native.observer import Observer
from consentry.enforce.native.opener import Opener
from consentry.enforce.native.waiting import WaitingBoxes
from consentry.enforce.native.wire import passed, receive_order, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from consentry.enforce.native.heldcalls import HeldCalls
    from consentry.enforce.native.waiting import Start

_PREFIX = 4
_REPORT_BYTES = 1 << 16
_MOST_SAID = 5
_QUIET, _LOOK_AGAIN = 25, 5000  # milliseconds
_LOOK_FOR_DEAD = 200  # milliseconds
_P_PIDFD = 3
_SIGKILL = 9


class _Run:
    """One box while it lives, as the launcher sees it."""

    def __init__(
        self,
        news: _socket.socket,
        plan: "dict[str, Any]",
        line: _socket.socket | None,
        started: "Start",
    ) -> None:
        self.news = news
        self.observer: Observer | None = None
        who = {"ids": plan["ids"], "is_root": plan["idmap"] is not None}
        self.exact, self.direct, self.hold = (
            None if plan.get(name) is None else {**plan[name], **who}
            for name in ("exact", "direct", "hold")
        )
        self.line = line
        # Who renames a folder for the program is under the program's own rules.
        self.moves = {"landlock": plan["landlock"], **who} if plan.get("moves") else None
        self.watched: set[int] = set()
        self.pid = started.pid
        self.pidfd = started.pidfd
        self.report = started.report
        self.gate = started.gate
        self.is_over = False
        self.told = b""
        self.has_ways = bool(plan.get("ways"))
        self.names: AskedNames | None = None
        self.lost: LostDatagrams | None = None


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
        # What was heard of a descriptor is not for the one that has its number since.
        self._since_poll: set[int] = set()
        self._workers = Workers(self)
        self._waiting = WaitingBoxes()
        # Root reaches files through mounts that show them as another user's; made once for each.
        self._shown_as: dict[int, int] = {}
        self._held: list[HeldCalls] = []
        self._looks_at = 0.0

    def live(self) -> None:
        """Until the owner is gone."""
        control = self._control.fileno()
        while True:
            self._since_poll.clear()
            happened = self._poll.poll(self._patience())
            if not happened:
                self._use_the_quiet()
            for descriptor, events in happened:
                if descriptor == control:
                    if not self._take_request():
                        return
                elif descriptor in self._does and descriptor not in self._since_poll:
                    self._does[descriptor](events)
            if self._held:
                self._look_for_the_dead()

    def _look_for_the_dead(self) -> None:
        """Of those that wait for an answer, whom the kernel tells nobody of."""
        now = time.monotonic()
        if now >= self._looks_at:
            self._looks_at = now + _LOOK_FOR_DEAD / 1000
            self._held = [each for each in self._held if not each.is_closed]
            for each in self._held:
                each.look_for_the_dead()

    def _patience(self) -> int | None:
        """Milliseconds until there is something to do without being told to."""
        if any(each.waits for each in self._held):
            return _QUIET if self._waiting.is_short() else _LOOK_FOR_DEAD
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
        if not files:
            return True  # there was no room for its descriptors, and its owner hears the end
        news = _socket.socket(fileno=files[0])
        plan["idmap"] = None
        try:
            if os.getuid() == 0 and "ids" in plan and "worker" not in plan:
                other = self._other_users(plan["ids"][0])
                plan["idmap"] = len(files)
                files.append(os.dup(other))
            self._carry_out(news, plan, files)
        except OSError as problem:
            send(news, ("failed", problem.errno or 0, str(problem.filename or "uid_map")))
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
            self._workers.start(news, plan, files)
        elif "unneeded" in plan:
            self._workers.end(plan["unneeded"])
            send(news, ("ready", 0, ""))
            news.close()
        elif "worker" in plan:
            self._workers.order(news, plan, files)
        else:
            uses_groups = "stock" in plan
            hold = plan.get("hold")
            line = None if hold is None else _socket.socket(fileno=os.dup(files[hold["line"]]))
            started = self._waiting.start(plan, files)
            run = _Run(news, plan, line, started)
            group = "" if started.group is None else started.group[0]
            send(news, ("started", run.pid, group), run.pidfd)
            self.watch(run, run.report, lambda events: self.hear(run, events))
            self.watch(run, run.pidfd, lambda _: self._bury(run))
            self.watch(run, run.gate.fileno(), lambda _: self._take_descriptor(run))
            self.end_with_owner(run)
            self._waiting.wish_for(plan, uses_groups=uses_groups)

    def listen(self, descriptor: int, does: "Callable[[int], None]") -> None:
        """Calls this when there is something to read."""
        self._does[descriptor] = does
        self._since_poll.add(descriptor)
        self._poll.register(descriptor, select.POLLIN)

    def ignore(self, descriptor: int) -> None:
        """Calls nothing any more."""
        del self._does[descriptor]
        self._poll.unregister(descriptor)

    def watch(self, run: "Any", descriptor: int, does: "Callable[[int], None]") -> None:
        """As `listen`, for as long as the run lasts."""
        run.watched.add(descriptor)
        self.listen(descriptor, does)

    def end_with_owner(self, run: "Any") -> None:
        """Of a run that nobody hears of any more, nobody holds the time and the output."""
        self.watch(run, run.news.fileno(), lambda _: self._end_unheard(run))

    def _end_unheard(self, run: "Any") -> None:
        self.forget(run, run.news.fileno())
        try:
            _signal.pidfd_send_signal(run.pidfd, _SIGKILL)
        except ProcessLookupError:
            return  # it is over

    def forget(self, run: "Any", descriptor: int) -> None:
        """As `ignore`; what is not watched any more is left alone."""
        if descriptor in run.watched:
            run.watched.remove(descriptor)
            self.ignore(descriptor)

    def _take_descriptor(self, run: _Run) -> None:
        space = _socket.CMSG_SPACE(4 * wire.MOST_FILES) + _socket.CMSG_SPACE(12)
        said, ancillary = wire.heard(run.gate, _MOST_SAID, space)
        taken = passed(ancillary)
        if said in (b"b", b"s", b"w"):
            stored = 0 if said == b"w" else 1
            send(run.news, ("built", int(said == b"b"), ""), *taken[:stored])
            kept = stored
            if run.has_ways:
                run.lost = LostDatagrams(run.pid)
                send(run.news, ("ways", 0, ""), *taken[stored:])
                kept = len(taken)
            for descriptor in taken[:kept]:
                os.close(descriptor)
            self._hear_questions(run, AskedNames(taken[kept:]))
        elif said[:1] != b"l" or not self._observe(run, wire.speaker(ancillary), said[1:]):
            self.forget(run, run.gate.fileno())
            return

    def _hear_questions(self, run: _Run, names: AskedNames) -> None:
        run.names = names
        for each in names.heard_at():
            self.watch(run, each, lambda _: names.hear())

    def _observe(self, run: _Run, speaker: int, number: bytes) -> bool:
        """Fetches the listener from the program that is about to start."""
        try:
            pidfd = os.pidfd_open(speaker)
            try:
                [listener] = wire.fetched(pidfd, number)
            finally:
                os.close(pidfd)
            exact = None
            if run.exact is not None:
                exact = ExactReads(Opener(speaker, run.exact), run.exact["places"])
            observer = run.observer = Observer(listener, calls.MACHINE, exact)
            made = -1 if run.direct is None else observer.have_names_made(speaker, run.direct)
            if run.hold is not None and run.line is not None:
                self.have_calls_held(run, observer, speaker, run.hold, run.line)
                run.line = None
        except ProcessLookupError:
            return False  # it was ended meanwhile
        except OSError as problem:
            # Nobody could answer what it asks from here on.
            send(run.news, ("failed", problem.errno or 0, "pidfd_getfd"))
            _signal.pidfd_send_signal(run.pidfd, _SIGKILL)
            return False
        if run.moves is not None:
            moved = observer.have_folders_moved(run.moves)
            self.watch(run, moved, lambda _: self._tell_what_was_moved(run, observer, moved))
        if made >= 0:
            self.watch(run, made, lambda _: self._tell_what_was_made(run, observer, made))
        self.watch(run, listener, lambda events: self.serve(run, observer, events))
        if exact is not None:
            self.watch(run, exact.fileno(), lambda _: self._hand_in(run, observer, exact.fileno()))
        return True

    def have_calls_held(
        self,
        run: "Any",
        observer: Observer,
        program: int,
        wish: "dict[str, Any]",
        line: _socket.socket,
    ) -> None:
        """What the grants refuse waits for an answer from here on."""
        held = observer.have_calls_held(program, wish, line)
        descriptor = held.fileno()
        self._held.append(held)

        def tell(_: int) -> None:
            if not observer.tell_what_was_decided():
                self.forget(run, descriptor)

        self.watch(run, descriptor, tell)

    def _hand_in(self, run: _Run, observer: Observer, descriptor: int) -> None:
        if not observer.hand_in():
            self.forget(run, descriptor)

    def _tell_what_was_made(self, run: _Run, observer: Observer, descriptor: int) -> None:
        if not observer.tell_what_was_made():
            self.forget(run, descriptor)

    def _tell_what_was_moved(self, run: _Run, observer: Observer, descriptor: int) -> None:
        if not observer.tell_what_was_moved():
            self.forget(run, descriptor)

    def serve(self, run: "Any", observer: Observer, events: int) -> None:
        """Answers what a program of the run asks the kernel for."""
        if not events & select.POLLIN or not observer.serve():
            self.forget(run, observer.listener)

    def hear(self, run: "Any", events: int) -> None:
        """Passes on what the box reports; at the end of it, forgets the report."""
        part = os.read(run.report, _REPORT_BYTES) if events & select.POLLIN else b""
        if not part:
            self.forget(run, run.report)
            return
        run.told += part
        while len(run.told) >= _PREFIX and len(run.told) >= _PREFIX + _length(run.told):
            end = _PREFIX + _length(run.told)
            message = marshal.loads(run.told[_PREFIX:end])  # noqa: S302 - from our own box
            run.told = run.told[end:]
            send(run.news, message)
            if message[0] == "ended" and isinstance(run, _Run):
                # Its first process has waited for all others; what is left is to clear up.
                self._tell_over(run, 0)

    def _bury(self, run: _Run) -> None:
        if run.report in run.watched:
            self.hear(run, select.POLLIN)
            self.forget(run, run.report)
        waited = os.waitid(_P_PIDFD, run.pidfd, os.WEXITED)
        self.finish(run, waited.si_status if waited is not None else 0)

    def finish(self, run: "Any", status: int) -> None:
        """Tells that it is over, unless that was told, and lets go of everything."""
        self._tell_over(run, status)
        if run.line is not None:
            run.line.close()
        for descriptor in list(run.watched):
            self.forget(run, descriptor)
        run.gate.close()
        os.close(run.report)
        if run.pidfd >= 0:
            os.close(run.pidfd)

    def _tell_over(self, run: "Any", status: int) -> None:
        """Tells that it is over and what was noted, once."""
        if run.is_over:
            return
        run.is_over = True
        # What it said before is not needed now, and there is nobody to be told.
        self.forget(run, run.gate.fileno())
        notes = {} if run.observer is None else run.observer.notes()
        notes["status"] = status
        names = run.names
        if names is not None:
            notes["names"] = names.told()
            notes["left_out"] = notes.get("left_out", 0) + names.left_out
            for descriptor in names.heard_at():
                self.forget(run, descriptor)
            names.close()
        if run.lost is not None:
            notes["lost"] = run.lost.count()
            run.lost.close()
        held = os.memfd_create("notes", os.MFD_CLOEXEC)
        os.write(held, marshal.dumps(notes))
        send(run.news, ("over", 0, ""), held)
        os.close(held)
        if run.observer is not None:
            # Their numbers are another run's from the moment that they are closed.
            for descriptor in run.observer.heard_at():
                self.forget(run, descriptor)
            run.observer.close()
        self.forget(run, run.news.fileno())
        run.news.close()


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


def _length(told: bytes) -> int:
    return int.from_bytes(told[:_PREFIX], "little")
