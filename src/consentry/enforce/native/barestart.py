"""A run without namespaces: who starts the program, and how all of it is ended.

No pid namespace ends with its first process here, so two processes of ours stand above the program,
and what it leaves behind comes back to them: the keeper, which the launcher knows, and the starter
below it. Each one ends everything below it when it is told to, when the program is over, and when
the process above it is gone; so whichever one of owner, launcher, keeper and starter is killed,
nothing stays. The program can neither signal nor trace them.

Nothing here may ever signal a process that is not a child of its own: these are the host's numbers.
"""

import _signal  # type: ignore[import-not-found]
import errno
import os
import resource

from consentry.enforce.native import box, calls, reaper, restraint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_SIGKILL = 9
_PART = 1 << 16
_INT = 4
_HEARD = (*reaper.PASSED_ON, reaper.END_NOW)


def keep(
    plan: "Mapping[str, Any]",
    files: "Sequence[int]",
    ends: "tuple[int, int, int]",
    launcher: int,
) -> None:
    """The keeper; never returns.

    `ends` are where the launcher reads reports, the gate, and where it reads the starter's number.
    """
    try:
        _keep(plan, files, ends, launcher)
    except OSError as problem:
        # As long as there is nobody below who reports.
        reaper.tell(ends[0], "failed", problem.errno or 0, str(problem.filename or "fork"))
    finally:
        os._exit(reaper.NOT_BUILT)


def _keep(
    plan: "Mapping[str, Any]",
    files: "Sequence[int]",
    ends: "tuple[int, int, int]",
    launcher: int,
) -> None:
    report, gate, told = ends
    reaper.keep_only((*files[1:], *ends))
    _signal.pthread_sigmask(_signal.SIG_BLOCK, _HEARD)
    _end_with(launcher)
    keeper = os.getpid()
    starter = os.fork()
    if starter == 0:
        os.close(told)
        _start(plan, files, (report, gate), keeper)
    os.write(told, starter.to_bytes(_INT, "little"))
    # Were its ends open here, nobody could tell that the program is gone.
    calls.close_from(3)
    for number in _HEARD:
        _signal.signal(number, lambda heard, _: _signal_child(starter, heard))
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, _HEARD)
    _wait_for(starter, _HEARD)
    end_children()
    os._exit(0)


def _end_with(above: int) -> None:
    """Adopts what is left below, and hears of the end of the process above, also if that was."""
    calls.prctl(calls.PR_SET_CHILD_SUBREAPER, 1)
    calls.prctl(calls.PR_SET_PDEATHSIG, reaper.END_NOW)
    if os.getppid() != above:
        os._exit(reaper.NOT_BUILT)


def _signal_child(child: int, number: int) -> None:
    """Of one that was not waited for yet, so that the number is its own."""
    try:
        os.kill(child, number)
    except ProcessLookupError:
        return


def _start(
    plan: "Mapping[str, Any]", files: "Sequence[int]", ends: "tuple[int, int]", keeper: int
) -> None:
    status = reaper.NOT_BUILT
    report = ends[0]
    try:
        _end_with(keeper)
        status = _run(plan, files, *ends)
    except box.Replaced as problem:
        reaper.tell(report, "replaced", 0, str(problem))
    except OSError as problem:
        detail = str(problem.filename or problem.strerror)
        reaper.tell(report, "failed", problem.errno or 0, detail)
    except BaseException as problem:  # noqa: BLE001 - nothing above this frame is ours
        reaper.tell(report, "failed", 0, f"{type(problem).__name__}: {problem}")
    finally:
        _leave(status)


def _leave(status: int) -> None:
    """Whatever became of it, nothing is left below."""
    try:
        end_children()
    finally:
        os._exit(status)


def _run(plan: "Mapping[str, Any]", files: "Sequence[int]", report: int, gate: int) -> int:
    plan = {**plan, "landlock": _on_known(plan["landlock"])}
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    calls.drop_capabilities()
    calls.prctl(calls.PR_SET_DUMPABLE, 0)
    calls.seccomp(plan["bare"], listening=False)
    for number in reaper.PASSED_ON:
        _signal.signal(number, _signal.SIG_IGN)
    starter = os.getpid()
    child = os.fork()
    if child == 0:
        _become_program(plan, files, (report, gate), starter)
    _join(plan, files)
    reaper.pass_out(gate, b"s", None)
    # The rules hold for these names as long as somebody has them open.
    kept = {report, *(_held(path) for path in plan["pinned"])}
    reaper.keep_only(sorted(kept - {-1}))
    for number in reaper.PASSED_ON:
        _signal.signal(number, lambda heard, _: reaper.pass_on(child, heard))
    _signal.signal(reaper.END_NOW, lambda *_: _kill_children())
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, _HEARD)
    return _reap(child, report)


def _held(path: str) -> int:
    try:
        return os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return -1


def _on_known(rules: "Mapping[str, Any] | None") -> "Mapping[str, Any] | None":
    """The rules with those on places that were looked at when the plan was made: on the very same."""
    if rules is None:
        return None
    paths = list(rules["paths"])
    for path, rights, device, inode in rules["known"]:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        found = os.fstat(opened)
        if (found.st_dev, found.st_ino) != (device, inode):
            raise box.Replaced(path)
        if rights:
            paths.append((f"/proc/self/fd/{opened}", rights))
    return {**rules, "paths": paths}


def _join(plan: "Mapping[str, Any]", files: "Sequence[int]") -> None:
    """The groups of the run, by files that were opened by whoever may."""
    for door in plan["doors"]:
        os.write(files[door], b"0")


def _become_program(
    plan: "Mapping[str, Any]", files: "Sequence[int]", ends: "tuple[int, int]", starter: int
) -> None:
    report, gate = ends
    try:
        calls.prctl(calls.PR_SET_PDEATHSIG, _SIGKILL)
        if os.getppid() != starter:
            os._exit(reaper.NOT_BUILT)
        reaper.forget_signals()
        hears, tells = os.pipe2(os.O_CLOEXEC)
        # Before this process is in the run's groups, which need not have room for one more.
        messenger = calls.clone(calls.CLONE_FILES)
        if messenger == 0:
            _carry_listener(hears, gate)
        _join(plan, files)
        os.setsid()
        reaper.take_streams(plan, files)
        for which, soft, hard in plan["rlimits"]:
            resource.setrlimit(which, (soft, hard))
        os.umask(plan["umask"])
        os.chdir(plan["cwd"])
        calls.prctl(calls.PR_SET_DUMPABLE, 1)
        reaper.offer_to_die_first()
        restraint.restrict_files(plan["landlock"])
        listener = calls.seccomp(plan["filter"], listening=plan["listens"])
        os.write(tells, (listener if plan["listens"] else 0).to_bytes(_INT, "little"))
        os.waitpid(messenger, 0)
        if "go" in plan and not os.read(files[plan["go"]], 1):
            os._exit(reaper.NOT_BUILT)  # it was not permitted after all
        # Closes when the program starts; where it does not start, that is told.
        os.set_inheritable(report, False)  # noqa: FBT003 - as the function has it
        reaper.keep_only((report,))
        os.execve(plan["program"], plan["argv"], plan["env"])  # noqa: S606 - the program
    except OSError as problem:
        what = "program" if problem.filename == plan["program"] else "failed"
        reaper.tell(report, what, problem.errno or 0, str(problem.filename or problem.strerror))
        not_found = problem.errno == errno.ENOENT
        os._exit(reaper.NOT_FOUND if not_found else reaper.NOT_EXECUTABLE)
    finally:
        os._exit(reaper.NOT_BUILT)


def _carry_listener(hears: int, gate: int) -> None:
    """Passes out what the program's process made, having the same descriptors and no such filter.

    The launcher could fetch it, but containers refuse that call.
    """
    try:
        listener = int.from_bytes(os.read(hears, _INT), "little")
        if listener:
            reaper.pass_out(gate, b"l", listener)
    finally:
        os._exit(0)


def _wait_for(child: int, heard: "Sequence[int]") -> int:
    """Waits for it and whoever else ends, and then passes none of these signals on any more.

    Its number, and that of its group, is somebody else's from the moment that it was waited for.
    """
    while True:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        is_over = ended is not None and ended.si_pid == child
        for number in heard if is_over else ():
            _signal.signal(number, _signal.SIG_IGN)
        pid, status = os.waitpid(ended.si_pid if ended is not None else -1, 0)
        if pid == child:
            return status


def _reap(child: int, report: int) -> int:
    status = _wait_for(child, reaper.PASSED_ON)
    end_children()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    reaper.tell(report, "ended", status, (used.ru_utime, used.ru_stime, used.ru_maxrss))
    return 0


def end_children() -> None:
    """Kills and waits for every child, those that come back while it does so among them."""
    while True:
        _kill_children()
        try:
            os.wait()
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return


def _kill_children() -> None:
    for child in _children():
        _signal_child(child, _SIGKILL)


def _children() -> "list[int]":
    """As the kernel lists them; one that nobody has waited for keeps its number."""
    listing = os.open("/proc/thread-self/children", os.O_RDONLY | os.O_CLOEXEC)
    told = part = os.read(listing, _PART)
    while part:
        part = os.read(listing, _PART)
        told += part
    os.close(listing)
    return [int(word) for word in told.split()]
