"""The proxy's side of connections that wait for a person's answer.

A connection to a place that was not granted is kept open as it is, with nothing sent anywhere, while
the owner is asked over a socket of the run's own. Each waits in the thread that serves it, and watches
whether its program is still there. When the owner is gone, or has no more to say, the answer is no.
"""

import marshal
import os
import select
import socket
from contextlib import suppress
from threading import Lock, Thread
from typing import Final

from consentry.enforce.held import HeldAnswer

ASKS, GONE = "asks", "gone"
MOST_MESSAGE: Final = 2048
MOST_HELD: Final = 64
"""So many connections of one run wait at once: there is room left for those that need not."""

_LEFT: Final = select.POLLRDHUP | select.POLLHUP | select.POLLERR


class _Waiting:
    """One connection: its answer, and what becomes readable when there is one."""

    def __init__(self) -> None:
        self.answer: HeldAnswer | None = None
        self.bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)


class HeldLines:
    """The connections of one run that wait; threads may share it."""

    def __init__(self, owner: socket.socket) -> None:
        self._owner = owner
        self._waiting: dict[int, _Waiting] = {}
        self._last = 0
        self._is_closed = False
        self._one_at_a_time = Lock()
        Thread(target=self._hear, daemon=True).start()

    def answer_for(self, place: str, program: socket.socket) -> HeldAnswer | None:
        """What the person said to this place; None where nobody was asked.

        A program that leaves meanwhile, or ends, has no answer.
        """
        with self._one_at_a_time:
            if self._is_closed or len(self._waiting) >= MOST_HELD:
                return None
            self._last += 1
            number, waiting = self._last, _Waiting()
            self._waiting[number] = waiting
        try:
            return self._waited(number, waiting, place, program)
        except OSError:
            return None  # nobody is there to be asked
        finally:
            with self._one_at_a_time:
                self._waiting.pop(number, None)
                os.close(waiting.bell)

    def _waited(
        self, number: int, waiting: _Waiting, place: str, program: socket.socket
    ) -> HeldAnswer | None:
        self._tell(ASKS, number, place)
        if _is_answered(waiting.bell, program):
            return waiting.answer
        self._tell(GONE, number, place)
        return HeldAnswer.GONE

    def close(self) -> None:
        """Nobody is asked any more: whatever waits has no answer, which is a no."""
        with self._one_at_a_time:
            self._is_closed = True
            for each in self._waiting.values():
                each.answer = each.answer or HeldAnswer.GONE
                os.eventfd_write(each.bell, 1)
        with suppress(OSError):
            self._owner.shutdown(socket.SHUT_RDWR)

    def _tell(self, word: str, number: int, place: str) -> None:
        self._owner.send(marshal.dumps((word, number, place)))

    def _hear(self) -> None:
        with self._owner, suppress(OSError):
            while said := self._owner.recv(MOST_MESSAGE):
                number, answer = marshal.loads(said)  # noqa: S302 - from our own owner
                self._settle(number, HeldAnswer(answer))
        self.close()

    def _settle(self, number: int, answer: HeldAnswer) -> None:
        with self._one_at_a_time:
            waiting = self._waiting.get(number)
            if waiting is not None:
                waiting.answer = answer
                os.eventfd_write(waiting.bell, 1)


def _is_answered(bell: int, program: socket.socket) -> bool:
    """Waits for the one or the other: false where the program left first."""
    waits = select.poll()
    waits.register(bell, select.POLLIN)
    waits.register(program.fileno(), select.POLLRDHUP)
    while True:
        happened = dict(waits.poll())
        if happened.get(bell):
            return True
        if happened.get(program.fileno(), 0) & _LEFT:
            return False
