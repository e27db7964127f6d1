"""Starts the commands of other engines, holds them to the run's limits first, and ends all of it.

A command starts behind a gate: a shell, in a session of its own and with nothing of our environment,
that joins the run's control groups and waits until the parent has set its limits and says go; only then
does it become the command. To join a group of version 2 takes milliseconds, in which the parent goes on.
Where we die before that, or a group cannot be joined, the gate ends without the command.

What the command itself makes of a box is the engine's to say: `BoxSigns` finds the first process of
the box, so that signals reach the program, and so that a box is over only when nothing of it is left.
"""

import fcntl
import os
import resource
import select
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final, Protocol

from consentry.base.values import dataclass
from consentry.enforce.limits import Rlimit
from consentry.enforce.running import Ended

GIVEN_FROM: Final = 4
"""The number of the first descriptor that a command is given; the others follow."""

_SHELL: Final = "/bin/sh"
_GATE: Final = """\
cd / && unset OLDPWD && umask 022 || exit 125
while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift; read -r _ <&3 && exec "$@" 3<&-
"""
_MOURNER: Final = 'read -r _ <&3; kill -s KILL -- "-$1"'
_HEARD: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)
_RESET: Final = (*_HEARD, signal.SIGCHLD, signal.SIGXFSZ, signal.SIGUSR1, signal.SIGUSR2)
_BURIAL_SECONDS: Final = 5.0
_BY_SIGNAL: Final = 128


@dataclass(frozen=True, slots=True)
class Command:
    """What is started: words, of which the first is a path; its environment, streams and files.

    `files` are the descriptors that it gets besides, as `GIVEN_FROM` and the numbers after it. A
    command that `outlives` whoever started it is ended by a process of ours if we die.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str]
    streams: tuple[int, ...]
    files: tuple[int, ...] = ()
    outlives: bool = False


class GivenFiles:
    """The descriptors that a command is given, each with the number that it has there."""

    def __init__(self, ends: ExitStack) -> None:
        self._ends = ends
        self.all: list[int] = []

    def given(self, descriptor: int) -> int:
        """Hands it on, and closes it here afterwards."""
        self._ends.callback(os.close, descriptor)
        return self.shared(descriptor)

    def shared(self, descriptor: int) -> int:
        """Hands on what somebody else closes."""
        self.all.append(descriptor)
        return GIVEN_FROM + len(self.all) - 1

    def of(self, content: bytes) -> int:
        """A file in memory with that content."""
        made = os.memfd_create("told", os.MFD_CLOEXEC)
        number = self.given(made)
        os.write(made, content)
        os.lseek(made, 0, os.SEEK_SET)
        return number


class BoxSigns(Protocol):
    """How the box of a command is found."""

    def first_process(self, command: int) -> int | None:
        """The first process of the box, the engine's own, whose end is the box's; None until then."""
        ...

    def group_leader(self, command: int) -> int | None:
        """The process whose group has the program in it; None until it is known."""
        ...

    def problem(self, status: int) -> tuple[str, int, str] | None:
        """Why there was no box, of a command that ended with that status; None where there was."""
        ...

    def close(self) -> None:
        """Lets go of what it watches."""
        ...


class CommandBox:
    """A command at its gate, and then the box it makes; not shared between threads."""

    group = ""
    store: int | None = None

    def __init__(self, command: Command, signs: BoxSigns, doors: Sequence[str] = ()) -> None:
        """`doors` are files by which the gate joins control groups."""
        self._signs = signs
        waits, self._go = os.pipe2(os.O_CLOEXEC)
        try:
            self._command = _spawned(command, waits, doors)
        except BaseException:
            os.close(self._go)
            raise
        finally:
            os.close(waits)
        self._pidfd = os.pidfd_open(self._command)
        self._mourner = _Mourner(self._command) if command.outlives else None
        self._first: tuple[int, int] | None = None
        self._status: int | None = None
        self._used = (0.0, 0.0)

    def hold(self, rlimits: Sequence[Rlimit]) -> None:
        """Before it goes on: under the limits of its own kind."""
        for which, soft, hard in rlimits:
            resource.prlimit(self._command, which, (soft, hard))

    def go_on(self) -> None:
        """Lets the command start; one that is gone meanwhile is heard of by its end."""
        with suppress(BrokenPipeError):
            os.write(self._go, b"\n")
        self._close_gate()

    @property
    def pid(self) -> int | None:
        """The first process of the box."""
        found = self._found()
        return None if found is None else found[0]

    def _found(self) -> tuple[int, int] | None:
        """Its number and a descriptor of it, kept from when it was first seen."""
        if self._first is None and self._status is None:
            number = self._signs.first_process(self._command)
            if number is not None:
                with suppress(ProcessLookupError):
                    self._first = number, os.pidfd_open(number)
        return self._first

    def fileno(self) -> int:
        """Readable when the command has ended."""
        return self._pidfd

    def hear(self) -> bool:
        """There is one piece of news, the last: the command has ended."""
        self._found()
        if self._mourner is not None:
            # While the number of the command is still its own.
            self._mourner.dismiss()
        _, status, used = os.wait4(self._command, 0)
        self._status = status
        # Its most memory says nothing: of a spawned process it begins with that of who spawned it.
        self._used = (used.ru_utime, used.ru_stime)
        if self._first is not None:
            self._bury(self._first[1])
        return False

    def _bury(self, first: int) -> None:
        """The last of a box may end a moment after its command, which was to look after it."""
        if not _has_ended(first, 0):
            _send(first, signal.SIGKILL)
            _has_ended(first, _BURIAL_SECONDS)

    def pass_signal(self, number: int) -> None:
        """To the program and its group; the engine's own processes are not asked."""
        if self._status is not None:
            return
        found = self._found()
        leader = None if found is None else self._signs.group_leader(self._command)
        if found is None or leader is None:
            # It is on its way; whoever asks for the end of it must not have to ask again.
            if number in _HEARD:
                self.kill()
            return
        with suppress(ProcessLookupError, PermissionError):
            if not _has_ended(found[1], 0):
                os.killpg(leader, number)

    def end_now(self) -> None:
        """Kills the first process of the box, and with it all others; the command tells of it."""
        found = self._found()
        if found is None:
            self.kill()
        else:
            _send(found[1], signal.SIGKILL)

    def kill(self) -> None:
        """Kills the box and the command."""
        found = self._found()
        if found is not None:
            _send(found[1], signal.SIGKILL)
        if self._status is None:
            _send(self._pidfd, signal.SIGKILL)

    def ended(self) -> Ended:
        """How it ended, as the command tells it: by a signal where the status says so."""
        code = None if self._status is None else os.waitstatus_to_exitcode(self._status)
        problem = None if code is None else self._signs.problem(code)
        return Ended(told_status(code), *self._used, peak_kib=0, problem=problem)

    def close(self) -> None:
        """Lets go of it; a command that still runs is ended first."""
        self._close_gate()
        if self._status is None:
            self.kill()
            self.hear()
        self._signs.close()
        for descriptor in (self._pidfd, *(() if self._first is None else self._first[1:])):
            os.close(descriptor)
        self._first = None

    def _close_gate(self) -> None:
        if self._go >= 0:
            os.close(self._go)
            self._go = -1


class _Mourner:
    """Waits for our death, and then ends the group of a command that would go on."""

    def __init__(self, command: int) -> None:
        waits, self._alive = os.pipe2(os.O_CLOEXEC)
        try:
            self._pid = _spawned_shell(_MOURNER, ("mourner", str(command)), {}, (waits,) * 4)
        finally:
            os.close(waits)

    def dismiss(self) -> None:
        """Of a command that we bury ourselves."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._alive)


def told_status(code: int | None) -> int | None:
    """The status of the program: commands tell of a signal by a number from 129 on, as shells do."""
    if code is None or not _BY_SIGNAL < code < _BY_SIGNAL + signal.NSIG:
        return code
    return _BY_SIGNAL - code


def _spawned(command: Command, waits: int, doors: Sequence[str]) -> int:
    environment = {"PATH": "/usr/bin:/bin", **command.environment}
    files = (*command.streams, waits, *command.files)
    return _spawned_shell(_GATE, ("gate", *doors, "--", *command.words), environment, files)


def _spawned_shell(
    script: str, words: tuple[str, ...], environment: Mapping[str, str], files: tuple[int, ...]
) -> int:
    """A shell in a session of its own, with these descriptors numbered from 0 and no other."""
    aside: list[int] = []
    try:
        # Above the numbers that it will have, so that none is overwritten before it is passed.
        aside += [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, len(files)) for each in files]
        return os.posix_spawn(
            _SHELL,
            [_SHELL, "-c", script, *words],
            environment,
            file_actions=[
                *((os.POSIX_SPAWN_DUP2, each, number) for number, each in enumerate(aside)),
                *((os.POSIX_SPAWN_CLOSE, each) for each in _inherited(len(aside))),
            ],
            setsid=True,
            setsigmask=(),
            setsigdef=_RESET,
        )
    finally:
        for each in aside:
            os.close(each)


def _inherited(first: int) -> Iterator[int]:
    """Descriptors that our own caller left open for whatever we start: not for this."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - numbers, not paths
        with suppress(OSError):
            if int(name) >= first and os.get_inheritable(int(name)):
                yield int(name)


def _has_ended(pidfd: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _send(pidfd: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        signal.pidfd_send_signal(pidfd, number)


def children_of(pid: int) -> tuple[int, ...]:
    """The children of a process, oldest first; none where it is gone."""
    try:
        told = Path(f"/proc/{pid}/task/{pid}/children").read_bytes()
    except OSError:
        return ()
    return tuple(map(int, told.split()))
