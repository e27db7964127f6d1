"""The first process of the box: starts the program, reaps whatever dies, and reports how it ended.

A pid namespace needs a first process that waits for orphans; were it the program itself, signals
with default action would be ignored and the processor time of orphans lost. It holds no capability,
cannot be traced or read by what runs beside it, and speaks only to the launcher, over a pipe that
the program never has.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import errno
import marshal
import os
import resource

from consentry.enforce.native import box, calls, restraint, sequence, waysout, wire
from consentry.enforce.native.wire import receive_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

NOT_FOUND, NOT_EXECUTABLE, NOT_BUILT = sequence.NOT_FOUND, sequence.NOT_EXECUTABLE, 125
_SIGKILL, _SIGCHLD = 9, 17
END_NOW = 34  # the first signal that programs do not use
PASSED_ON = (1, 2, 3, 15, 10, 12, 28)  # HUP INT QUIT TERM USR1 USR2 WINCH
OF_PYTHON = (2, 13, 25)  # INT PIPE XFSZ, which every interpreter takes for itself
_MOST_SIGNALS = 65
_HIDDEN = (32, 33)  # the C library's own, which a caller without it may ignore


def live(
    plan: "Mapping[str, Any]", files: "Sequence[int]", report: int, gate: "tuple[int, int]"
) -> None:
    """Builds the box, runs the program, and never returns.

    `report` is where the launcher reads; `gate` is the pair of socket ends, the launcher's and its
    own, over which the program hands out its listener and is told to go on.
    """
    # The launcher's sockets, and those of other boxes, are no business of this one; and were the
    # other end of the gate open here, nobody could tell that the launcher is gone.
    keep_only((*files[1:], report, gate[1]))
    _live(lambda: _run(plan, files, report, gate[1]), report)


def live_waiting(
    base: "Mapping[str, Any]", files: "Sequence[int]", report: int, gate: "tuple[int, int]"
) -> None:
    """Builds what is alike in all boxes of a kind, waits for a plan, and goes on as `live` does.

    `base` has the first steps of the plans to come, `files` at most the namespace for its mounts.
    """
    keep_only((*files, report, gate[1]))
    _live(lambda: _wait(base, files, report, gate[1]), report)


def _live(run: "Callable[[], int]", report: int) -> None:
    status = NOT_BUILT
    try:
        calls.prctl(calls.PR_SET_PDEATHSIG, _SIGKILL)
        status = run()
    except box.Replaced as problem:
        tell(report, "replaced", 0, str(problem))
    except OSError as problem:
        tell(report, "failed", problem.errno or 0, str(problem.filename or problem.strerror))
    except BaseException as problem:  # noqa: BLE001 - nothing above this frame is ours
        tell(report, "failed", 0, f"{type(problem).__name__}: {problem}")
    finally:
        os._exit(status)


def _run(plan: "Mapping[str, Any]", files: "Sequence[int]", report: int, gate: int) -> int:
    _join(plan)
    _enter(plan)
    built = box.Box(plan, files)
    built.begin()
    waysout.bring_up_loopback()
    calls.drop_bounding_set()
    return _finish(built, plan, files, report, gate)


def _wait(base: "Mapping[str, Any]", files: "Sequence[int]", report: int, gate: int) -> int:
    _join(base)
    _enter(base)
    built = box.Box(base, files)
    built.begin()
    waysout.bring_up_loopback()
    # What it has it keeps until the box is finished; no program could be given any of it.
    calls.drop_bounding_set()
    with_gate = _socket.socket(fileno=gate)
    order = receive_order(with_gate)
    with_gate.detach()
    if order is None:
        return NOT_BUILT
    plan, given = order
    given = [-1, *given]  # the first one is the launcher's own
    _join(plan)
    built.go_on(plan, given)
    return _finish(built, plan, given, report, gate)


def _join(plan: "Mapping[str, Any]") -> None:
    for door in plan.get("groups", ()):
        _write(door, b"0")


def _enter(plan: "Mapping[str, Any]") -> None:
    if plan["idmap"] is None:
        restraint.enter_user_namespace(*plan["ids"])


def _finish(
    built: box.Box, plan: "Mapping[str, Any]", files: "Sequence[int]", report: int, gate: int
) -> int:
    built.finish()
    ways = waysout.opened(plan["ways"]) if plan.get("ways") else waysout.for_questions()
    uid, gid = plan["ids"]
    _socket.sethostname(plan["hostname"])
    if plan["idmap"] is not None:
        restraint.become(uid, gid)
        # The kernel forgets it when a process changes its user.
        calls.prctl(calls.PR_SET_PDEATHSIG, _SIGKILL)
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    calls.drop_capabilities()
    calls.prctl(calls.PR_SET_DUMPABLE, 0)
    word = b"b" if built.has_layer else b"s"
    if built.store is None:
        word = b"w"
    # In one message: two of one speaker may be read as one.
    pass_out(gate, word, built.store, *ways)
    for way in ways:
        os.close(way)
    for number in PASSED_ON:
        _signal.signal(number, _signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        _become_program(plan, files, report, gate)
    os.close(gate)
    for number in PASSED_ON:
        _signal.signal(number, lambda n, _: pass_on(child, n))
    _signal.signal(END_NOW, lambda *_: _kill_all())
    return _reap(child, report)


def _become_program(
    plan: "Mapping[str, Any]", files: "Sequence[int]", report: int, gate: int
) -> None:
    try:
        forget_signals()
        os.setsid()
        take_streams(plan, files)
        for which, soft, hard in plan["rlimits"]:
            resource.setrlimit(which, (soft, hard))
        os.umask(plan["umask"])
        os.chdir(plan["cwd"])
        calls.prctl(calls.PR_SET_DUMPABLE, 1)
        offer_to_die_first()
        restraint.restrict_files(plan["landlock"])
        listener = calls.seccomp(plan["filter"], listening=plan["listens"])
        if plan["listens"]:
            # Starting the program is trapped, too: it waits there until somebody has taken this.
            os.write(gate, b"l" + wire.numbers([listener]))
        if "go" in plan and not os.read(files[plan["go"]], 1):
            os._exit(NOT_BUILT)  # it was not permitted after all
        # What is kept closes when the program starts; where it does not start, that is told.
        os.set_inheritable(report, False)  # noqa: FBT003 - as the function has it
        keep_only((listener, report) if plan["listens"] else (report,))
        if plan.get("then"):
            sequence.run_in_order(plan, plan["then"], report, forget_signals)
        os.execve(plan["program"], plan["argv"], plan["env"])  # noqa: S606 - the program
    except OSError as problem:
        what = "program" if problem.filename == plan["program"] else "failed"
        tell(report, what, problem.errno or 0, str(problem.filename or problem.strerror))
        not_found = problem.errno == errno.ENOENT
        os._exit(NOT_FOUND if not_found else NOT_EXECUTABLE)
    finally:
        os._exit(NOT_BUILT)


def forget_signals(kept: "Sequence[int]" = ()) -> None:
    """What the caller ignores or blocks is not inherited; nor, for a program, what Python does."""
    for number in range(1, _MOST_SIGNALS):
        if number not in kept and _signal.getsignal(number) not in (_signal.SIG_DFL, None):
            _signal.signal(number, _signal.SIG_DFL)
    for number in _HIDDEN:
        calls.default_signal(number)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())


def keep_only(descriptors: "Sequence[int]") -> None:
    """Closes every other one but the three streams."""
    first = 3
    for number in sorted(descriptors):
        calls.close_from(first, number - 1)
        first = max(first, number + 1)
    calls.close_from(first)


def offer_to_die_first() -> None:
    """Short of memory, the kernel takes the program, not this box's first process or the host's."""
    try:
        _write("/proc/self/oom_score_adj", b"1000")
    except FileNotFoundError:
        return  # a host that lets nobody mount a /proc


def _write(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    os.write(descriptor, content)
    os.close(descriptor)


def take_streams(plan: "Mapping[str, Any]", files: "Sequence[int]") -> None:
    """The three streams, and a terminal where there is one."""
    for number, index in enumerate(plan["streams"]):
        os.dup2(files[index], number)
    if plan["terminal"]:
        import fcntl  # noqa: PLC0415 - only interactive runs need it

        fcntl.ioctl(files[plan["terminal"]], 0x540E, 0)  # TIOCSCTTY


def pass_out(gate: int, what: bytes, *descriptors: int | None) -> None:
    """Says a word to the launcher, and hands it descriptors; one that is None is left out."""
    with_gate = _socket.socket(fileno=gate)
    handed = [each for each in descriptors if each is not None]
    with_gate.sendmsg([what], wire.rights(handed))
    with_gate.detach()


def _reap(child: int, report: int) -> int:
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            return NOT_BUILT
        if pid == child:
            break
    _end_the_rest()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    tell(report, "ended", status, (used.ru_utime, used.ru_stime, used.ru_maxrss))
    return 0


def _end_the_rest() -> None:
    """Kills and waits for everything else in the namespace, so that its time is counted."""
    _kill_all()
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def _kill_all() -> None:
    try:
        os.kill(-1, _SIGKILL)
    except ProcessLookupError:
        return


def pass_on(child: int, number: int) -> None:
    """A signal to the program and its group."""
    try:
        os.killpg(child, number)
    except ProcessLookupError:
        return


def tell(report: int, what: str, number: int, detail: object) -> None:
    """Reports to the launcher."""
    message = marshal.dumps((what, number, detail))  # type: ignore[arg-type]
    os.write(report, len(message).to_bytes(4, "little") + message)
