"""Passes bytes between two connections until both ends have said all, and counts them.

But for the first of them, which are looked at, the bytes never come up to us: the kernel moves them
through a pipe. One thread serves both directions, because neither may hold up the other.
"""

import fcntl
import os
import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

_AT_ONCE: Final = 1 << 20
_PART: Final = 1 << 14
_GREETING_SECONDS: Final = 30.0
_MOVE: Final = 1 | 2  # without copying, and without waiting
_PATIENCE_MS: Final = 1000


class Opening:
    """What the program says first, kept until it was looked at.

    `look` is given all of it so far and says whether it may be passed on; it raises where it may not.
    """

    def __init__(self, look: Callable[[bytes], bool], said: bytes = b"") -> None:
        self._look = look
        self._said = said

    def is_settled(self) -> bool:
        """Whether there is nothing left to be looked at."""
        return bool(self._said) and self._look(self._said)

    def hear(self, program: socket.socket) -> bool:
        """Takes some more; true when it was enough, or when nothing follows."""
        try:
            part = program.recv(_PART)
        except BlockingIOError:
            return False
        self._said += part
        return not part or self._look(self._said)

    def pass_on(self, host: socket.socket) -> int:
        """All of it; it is little, and a new connection has room for it."""
        host.settimeout(_GREETING_SECONDS)
        host.sendall(self._said)
        host.setblocking(False)  # noqa: FBT003 - as the method has it
        return len(self._said)


class _Direction:
    """From one connection to the other."""

    def __init__(self, source: socket.socket, target: socket.socket) -> None:
        self.source, self.target = source, target
        self.out, self.into = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        with suppress(OSError):  # there is a bound for each user, and a smaller one works too
            fcntl.fcntl(self.into, fcntl.F_SETPIPE_SZ, _AT_ONCE)
        self.held = 0
        self.count = 0
        self.has_ended = False
        self.is_over = False

    def take(self) -> None:
        """What the source has to say, as much as the pipe holds."""
        try:
            taken = os.splice(self.source.fileno(), self.into, _AT_ONCE, flags=_MOVE)
        except BlockingIOError:
            return
        except OSError:
            taken = 0
        self.has_ended = taken == 0
        self.held += taken
        self.give()

    def give(self) -> None:
        """What the pipe holds, as much as the target takes; at the end, that it was the end."""
        try:
            while self.held:
                given = os.splice(self.out, self.target.fileno(), self.held, flags=_MOVE)
                self.held -= given
                self.count += given
        except BlockingIOError:
            return
        except OSError:
            # Nobody listens any more; what is left is for nobody.
            self.held, self.has_ended = 0, True
        if self.has_ended:
            self.is_over = True
            with suppress(OSError):
                self.target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """The pipe."""
        os.close(self.out)
        os.close(self.into)


def relay(
    program: socket.socket, host: socket.socket, opening: Opening, said_all: Callable[[], None]
) -> tuple[int, int]:
    """Bytes from the program to the host, and from there; returns when both have ended.

    Calls `said_all` when the host has all that the program said.
    """
    for connection in (program, host):
        connection.setblocking(False)  # noqa: FBT003 - as the method has it
    sent, received = _Direction(program, host), _Direction(host, program)
    both = (sent, received)
    try:
        _open(program, host, opening, received)
        sent.count += opening.pass_on(host)
        while not all(each.is_over for each in both):
            _step(both)
            if sent.is_over:
                said_all()
        return sent.count, received.count
    finally:
        for each in both:
            each.close()


def _open(
    program: socket.socket, host: socket.socket, opening: Opening, received: _Direction
) -> None:
    """Until it is known how the program begins; a host that speaks first is heard meanwhile."""
    is_settled = opening.is_settled()
    deadline: float | None = None
    while not is_settled:
        waits = select.poll()
        waits.register(program.fileno(), select.POLLIN)
        if received.held:
            waits.register(program.fileno(), select.POLLIN | select.POLLOUT)
        elif not received.has_ended:
            waits.register(host.fileno(), select.POLLIN)
        happened = dict(waits.poll(_PATIENCE_MS))
        if received.held and happened.get(program.fileno(), 0) & select.POLLOUT:
            received.give()
        elif happened.get(host.fileno()):
            received.take()
        if happened.get(program.fileno(), 0) & ~select.POLLOUT:
            is_settled = opening.hear(program)
            deadline = deadline or time.monotonic() + _GREETING_SECONDS
        if not is_settled and deadline is not None and time.monotonic() > deadline:
            raise TimeoutError("it began, and did not go on")


def _step(both: tuple[_Direction, _Direction]) -> None:
    wanted: dict[int, int] = {}
    for each in both:
        if each.held:
            wanted[each.target.fileno()] = wanted.get(each.target.fileno(), 0) | select.POLLOUT
        elif not each.has_ended:
            wanted[each.source.fileno()] = wanted.get(each.source.fileno(), 0) | select.POLLIN
    waits = select.poll()
    for descriptor, events in wanted.items():
        waits.register(descriptor, events)
    happened = dict(waits.poll(_PATIENCE_MS))
    for each in both:
        if each.held:
            if happened.get(each.target.fileno()):
                each.give()
        elif not each.has_ended and happened.get(each.source.fileno()):
            each.take()
