"""The owner's side of connections that wait: what the proxy asks is put to the desk of the run.

A thread of its own hears the proxy, because whoever stays with the run has other things to hear. The
desk asks for the same place once, and answers from whichever thread it likes.
"""

import marshal
import socket
from contextlib import suppress
from threading import Lock, Thread

from consentry.enforce.egress.heldlines import ASKS, MOST_MESSAGE
from consentry.enforce.held import HeldAnswer, HeldDesk, HeldOperation, Operation, Verb


class HeldQuestions:
    """What the proxy asks about one run, until that is over."""

    def __init__(self, desk: HeldDesk) -> None:
        self._desk = desk
        self._mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.its: socket.socket = its
        """The proxy's end, to be passed to it and closed."""
        self._numbers: dict[int, int] = {}
        self._one_at_a_time = Lock()
        self._thread = Thread(target=self._hear, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Nothing more is asked; what waits in the proxy is refused there, and gone here."""
        self.its.close()
        with suppress(OSError):
            self._mine.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._mine.close()

    def _hear(self) -> None:
        with suppress(OSError):
            while said := self._mine.recv(MOST_MESSAGE):
                word, number, place = marshal.loads(said)  # noqa: S302 - from our own process
                if word == ASKS:
                    self._ask(number, place)
                else:
                    self._take_back(number)
        for number in list(self._numbers):
            self._take_back(number)

    def _ask(self, number: int, place: str) -> None:
        def held(own: int) -> HeldOperation:
            return HeldOperation(own, Operation.NET, place, Verb.CONNECT)

        def answered(answer: HeldAnswer) -> None:
            with suppress(OSError), self._one_at_a_time:
                self._mine.send(marshal.dumps((number, answer.value)))

        self._numbers[number] = self._desk.ask((Operation.NET, place), held, answered)

    def _take_back(self, number: int) -> None:
        known = self._numbers.pop(number, None)
        if known is not None:
            self._desk.gone(known)
