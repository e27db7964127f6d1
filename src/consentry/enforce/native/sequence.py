"""Starts several programs in one box, one after the other, and stops at the first that fails.

This runs in the process that would have become the program, when everything that confines the run
holds for it already: it has no more power than what it starts, and it starts only what the plan
lists. It waits for each program by itself, so that no shell is needed, and ends as the last one that
it started ended. A signal that is passed to the run reaches the program and this; after one that ends
programs nothing more is started.

What a program leaves running in the background ends before the next one is started.
"""

import _signal  # type: ignore[import-not-found]
import errno
import os

from consentry.enforce.native import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

NOT_FOUND, NOT_EXECUTABLE = 127, 126
_SIGKILL = 9
_ENDING = (1, 2, 3, 15)  # HUP INT QUIT TERM
_TOLD = (*_ENDING, 10, 12)  # and USR1 USR2, which end a program that does not listen


def run_in_order(
    plan: "Mapping[str, Any]",
    then: "Sequence[tuple[str, list[str]]]",
    report: int,
    forget: "Callable[[], None]",
) -> None:
    """Runs the plan's program and what comes then; never returns.

    Where the first program cannot be started, the process that was to become it raises that, as if
    there were no others; `report` is where that is told. `forget` gives a new process the signals
    that a program begins with.
    """
    heard: list[int] = []
    for number in _TOLD:
        _signal.signal(number, lambda n, _: heard.append(n))
    _close_to_others(report)
    child = _forked(forget)
    if child == 0:
        os.execve(plan["program"], plan["argv"], plan["env"])  # noqa: S606 - the program
    os.close(report)
    status = _waited(child)
    for program, words in then:
        if status != 0 or any(number in _ENDING for number in heard):
            break
        _end_what_is_left()
        status = _waited(_started(plan, program, words, forget))
    _end_as(status, next((number for number in heard if number in _ENDING), 0))


def _close_to_others(report: int) -> None:
    """The programs to come can neither read nor write this process; whoever looks after it is here."""
    # Whatever is opened waits until somebody looks, and has taken from here what that takes.
    os.close(os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC))
    calls.prctl(calls.PR_SET_DUMPABLE, 0)
    calls.close_from(3, report - 1)
    calls.close_from(report + 1)


def _forked(forget: "Callable[[], None]") -> int:
    child = os.fork()
    if child == 0:
        forget()
        # What looks after the run reads from its memory what it asks for.
        calls.prctl(calls.PR_SET_DUMPABLE, 1)
    return child


def _end_what_is_left() -> None:
    """The next one begins alone: while it is made it is open, and no other program is there then."""
    try:
        os.kill(-1, _SIGKILL)
    except ProcessLookupError:
        return


def _started(
    plan: "Mapping[str, Any]", program: str, words: "list[str]", forget: "Callable[[], None]"
) -> int:
    try:
        child = _forked(forget)
        if child:
            return child
        os.execve(program, words, plan["env"])  # noqa: S606 - the program
    except OSError as problem:
        os._exit(NOT_FOUND if problem.errno == errno.ENOENT else NOT_EXECUTABLE)


def _waited(child: int) -> int:
    """How it ended; what others left behind comes to the first process of the box."""
    return os.waitpid(child, 0)[1]


def _end_as(status: int, told: int) -> None:
    """Ends as that program did; or by the signal that it was told to end with."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if status == 0:
        number = told
    if number in _TOLD:
        _signal.signal(number, _signal.SIG_DFL)
    if number:
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))
