"""The first process of a container: holds what the container's makers cannot, and starts the program.

A container gives a program namespaces, mounts and groups, and no more: it can start whatever lies in
the folders it sees, finds names in its environment that nobody named, and its first process ignores
signals. So the first process is this one. It forks; the child takes the limits, Landlock's rules and
the filter upon itself and becomes the program; this one passes signals on, reaps what dies, counts
what was used in the container's own groups, and writes a report into a file that the program, by
those rules, cannot open.

It is handed in as code, because nothing of this package is in a box, and imports next to nothing.
"""

import _signal  # type: ignore[import-not-found]
import errno
import marshal
import os
import resource

from consentry.enforce.native import calls, restraint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

END_NOW = 34  # the first signal that programs do not use
PASSED_ON = (1, 2, 3, 15, 10, 12, 28)  # HUP INT QUIT TERM USR1 USR2 WINCH
NOT_FOUND, NOT_EXECUTABLE, NOT_BUILT = 127, 126, 125
_SIGKILL, _SIGALRM = 9, 14
_MOST_SIGNALS = 65
_HIDDEN = (32, 33)  # the C library's own
_BETWEEN_LOOKS, _BETWEEN_CALLS = 0.05, 1.0
_GROUPS = "/sys/fs/cgroup"
_TIOCNOTTY, _TIOCSCTTY = 0x5422, 0x540E


def main(folder: str) -> None:
    """Runs the program that the order in the folder names, and never returns."""
    status = NOT_BUILT
    told = os.open(f"{folder}/report", os.O_WRONLY | os.O_CLOEXEC)
    alive = os.open(f"{folder}/alive", os.O_RDONLY | os.O_CLOEXEC)
    try:
        with open(f"{folder}/order", "rb") as file:  # noqa: PTH123 - slow to load in a box
            wish = marshal.load(file)  # noqa: S302 - written by our own caller
        status = _run(wish, told, alive)
    except OSError as problem:
        _tell(told, "failed", problem.errno or 0, str(problem.filename or problem.strerror))
    except BaseException as problem:  # noqa: BLE001 - nothing above this frame is ours
        _tell(told, "failed", 0, f"{type(problem).__name__}: {problem}")
    finally:
        os._exit(status)


def _run(wish: "Mapping[str, Any]", report: int, alive: int) -> int:
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    calls.prctl(calls.PR_SET_DUMPABLE, 0)
    for number in PASSED_ON:
        _signal.signal(number, _signal.SIG_IGN)
    if wish["terminal"]:
        # It is the program's: one session after the other can have it.
        _control_terminal(_TIOCNOTTY)
    child = os.fork()
    if child == 0:
        _become_program(wish, report)
    for number in PASSED_ON:
        _signal.signal(number, lambda n, _: _pass_on(child, n))
    _signal.signal(END_NOW, lambda *_: _kill_all())
    seconds = wish["cpu_seconds"]
    over: list[str] = []
    _signal.signal(_SIGALRM, lambda *_: _look(alive, seconds, over))
    pause = _BETWEEN_LOOKS if seconds is not None else _BETWEEN_CALLS
    _signal.setitimer(_signal.ITIMER_REAL, pause, pause)
    status = _reaped(child)
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    if status is None:
        return NOT_BUILT
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    _tell(
        report,
        "ended",
        status,
        used.ru_utime,
        used.ru_stime,
        used.ru_maxrss,
        over[0] if over else "-",
        _group_seconds(),
        _group_number(("memory/memory.max_usage_in_bytes", "memory.peak")),
        _memory_kills(),
    )
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _become_program(wish: "Mapping[str, Any]", report: int) -> None:
    try:
        for number in range(1, _MOST_SIGNALS):
            if _signal.getsignal(number) not in (_signal.SIG_DFL, None):
                _signal.signal(number, _signal.SIG_DFL)
        for number in _HIDDEN:
            calls.default_signal(number)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
        os.setsid()
        if wish["terminal"]:
            _control_terminal(_TIOCSCTTY)
        for which, soft, hard in wish["rlimits"]:
            most = resource.getrlimit(which)[1]
            least = [each if most < 0 or 0 <= each < most else most for each in (soft, hard)]
            resource.setrlimit(which, (least[0], least[1]))
        os.umask(wish["umask"])
        for target, path in wish["links"]:
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - as above
            os.symlink(target, path)  # noqa: PTH211 - as above
        os.chdir(wish["cwd"])
        calls.prctl(calls.PR_SET_DUMPABLE, 1)
        _offer_to_die_first()
        restraint.restrict_files(wish["landlock"])
        calls.seccomp(wish["filter"], listening=False)
        calls.close_from(3, report - 1)
        calls.close_from(report + 1)
        os.execve(wish["program"], wish["argv"], wish["env"])  # noqa: S606 - the program
    except OSError as problem:
        what = "program" if problem.filename == wish["program"] else "failed"
        _tell(report, what, problem.errno or 0, str(problem.filename or problem.strerror))
        os._exit(NOT_FOUND if problem.errno == errno.ENOENT else NOT_EXECUTABLE)
    finally:
        os._exit(NOT_BUILT)


def _control_terminal(request: int) -> None:
    import fcntl  # noqa: PLC0415 - only interactive runs need it

    for number in range(3):
        if os.isatty(number):
            fcntl.ioctl(number, request, 0)
            return


def _offer_to_die_first() -> None:
    descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    os.write(descriptor, b"1000")
    os.close(descriptor)


def _reaped(child: int) -> "int | None":
    """The program's status, when nothing of it is left."""
    ended: int | None = None
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            return ended
        if pid == child:
            ended = status
            _kill_all()


def _kill_all() -> None:
    try:
        os.kill(-1, _SIGKILL)
    except ProcessLookupError:
        return


def _pass_on(child: int, number: int) -> None:
    try:
        os.killpg(child, number)
    except ProcessLookupError:
        return


def _look(alive: int, limit: "float | None", over: "list[str]") -> None:
    """Ends it at the limit of its time, and when nobody is there any more who would."""
    if not over and limit is not None and (_group_seconds() or 0.0) >= limit:
        over.append("cpu_seconds")
        _kill_all()
    import fcntl  # noqa: PLC0415 - most runs are over before

    try:
        fcntl.flock(alive, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    _kill_all()


def _group_seconds() -> "float | None":
    nanoseconds = _group_number(("cpuacct/cpuacct.usage",))
    if nanoseconds is not None:
        return nanoseconds / 1e9
    microseconds = _group_field("cpu.stat", "usage_usec")
    return None if microseconds is None else microseconds / 1e6


def _memory_kills() -> int:
    for name in ("memory/memory.oom_control", "memory.events"):
        count = _group_field(name, "oom_kill")
        if count is not None:
            return count
    return 0


def _group_field(name: str, field: str) -> "int | None":
    for line in (_group_text(name) or "").splitlines():
        word, _, value = line.partition(" ")
        if word == field:
            return int(value)
    return None


def _group_number(names: "tuple[str, ...]") -> "int | None":
    for name in names:
        text = _group_text(name)
        if text is not None:
            return int(text)
    return None


def _group_text(name: str) -> "str | None":
    try:
        descriptor = os.open(f"{_GROUPS}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(descriptor, 1 << 14).decode()
    finally:
        os.close(descriptor)


def _tell(report: int, what: str, number: int, *details: object) -> None:
    """One line of words: nothing that its reader could stumble over."""
    line = " ".join((what, str(number), *map(str, details))).replace("\n", " ")
    # Both processes write at the place where the last one ended.
    os.write(report, line.encode("utf-8", "replace") + b"\n")
