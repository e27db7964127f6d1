"""A program with a pipe to its standard input and one from its standard output, and nothing else.

It gets the environment it is given, no descriptor of ours but the three, a session of its own (so no
terminal, and no Ctrl-C meant for us), and limits that the kernel keeps. Whoever starts one ends it:
`end` kills what still runs, and leaves no zombie.

Limits are set right after the start; what happens in between is the program's own first steps.
"""

import os
import resource
import select
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from consentry.base.codes import Code
from consentry.base.errors import Refused

# Python ignores two of these, and a caller may ignore the others: programs expect the usual.
_USUAL: Final = (
    signal.SIGPIPE,
    signal.SIGXFSZ,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGHUP,
    signal.SIGTERM,
)


class PipedProcess:
    """One running program; `to` and `out` are our ends of its pipes."""

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        *,
        errors: str = os.devnull,
        limits: Mapping[int, int] | None = None,
    ) -> None:
        """`errors` is the file that its standard error is added to; `limits` are of `resource`."""
        its_input, self.to = os.pipe2(os.O_CLOEXEC)
        self.out, its_output = os.pipe2(os.O_CLOEXEC)
        self._status: int | None = None
        try:
            self.pid = os.posix_spawn(
                words[0],
                list(words),
                dict(environment),
                file_actions=_three(its_input, its_output, errors),
                setsid=True,
                setsigmask=(),
                setsigdef=_USUAL,
            )
        except OSError as problem:
            os.close(self.to)
            os.close(self.out)
            said = (problem.strerror or "cannot be started").lower()
            raise Refused(Code.PROGRAM_UNSTARTABLE, f"`{words[0]}`: {said}") from problem
        finally:
            os.close(its_input)
            os.close(its_output)
        self.has_input = True
        for kind, most in (limits or {}).items():
            with suppress(OSError, ValueError):  # gone already, or a lower one holds
                resource.prlimit(self.pid, kind, (most, most))

    def close_input(self) -> None:
        """Tells it that nothing more will come."""
        if self.has_input:
            self.has_input = False
            os.close(self.to)

    def wait(self, until: float) -> int | None:
        """Its exit status (minus the signal that ended it), or None if it runs at that time."""
        if self._status is None:
            watched = os.pidfd_open(self.pid)
            try:
                if not is_ready(watched, until):
                    return None
            finally:
                os.close(watched)
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._status

    def end(self) -> int:
        """Kills it if it runs, lets go of everything; its exit status. May be called again."""
        if self._status is None:
            os.kill(self.pid, signal.SIGKILL)
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.close_input()
        if self.out >= 0:
            os.close(self.out)
            self.out = -1
        return self._status


def is_ready(descriptor: int, until: float, event: int = select.POLLIN) -> bool:
    """Whether it can be read (or written) before that time of the monotonic clock."""
    poll = select.poll()
    poll.register(descriptor, event)
    while True:
        left = until - time.monotonic()
        if poll.poll(max(0, left) * 1000):
            return True
        if left <= 0:
            return False


def _three(its_input: int, its_output: int, errors: str) -> list[tuple[Any, ...]]:
    """The actions that leave it the three streams."""
    return [
        (os.POSIX_SPAWN_DUP2, its_input, 0),
        (os.POSIX_SPAWN_DUP2, its_output, 1),
        (os.POSIX_SPAWN_OPEN, 2, errors, os.O_WRONLY | os.O_APPEND, 0),
        *((os.POSIX_SPAWN_CLOSE, each) for each in _inherited()),
    ]


def _inherited() -> Iterator[int]:
    """Descriptors that our own caller left open for whatever we start: not for this."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - numbers, not paths
        with suppress(OSError):
            if int(name) > 2 and os.get_inheritable(int(name)):  # noqa: PLR2004 - the three streams
                yield int(name)
