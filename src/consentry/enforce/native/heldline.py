"""The owner's side of held calls: what the launcher asks about one run is put to the desk of the run.

A thread of its own hears the launcher, because whoever stays with the run has other things to hear. When
the launcher or the box is gone, whatever waits is gone with it.
"""

import errno
import marshal
import os
import socket
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, Final

from consentry.enforce.held import HeldAnswer, HeldDesk, HeldOperation, Operation, Verb
from consentry.enforce.native.heldplan import NeverHeld

CLOSED: Final = HeldAnswer.UNASKED.value
"""The launcher's word for what is refused without a question."""

_MOST_MESSAGE: Final = 1 << 15


class HeldLine:
    """What the launcher asks about one run, until that is over."""

    def __init__(self, desk: HeldDesk, never: NeverHeld) -> None:
        self._desk = desk
        self._never = never
        self._mine, self.its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._numbers: dict[int, int] = {}
        self._one_at_a_time = Lock()
        self._thread = Thread(target=self._hear, daemon=True)

    def start(self) -> None:
        """Once the launcher has its end."""
        self.its.close()
        self._thread.start()

    def close(self) -> None:
        """Nothing more is asked; what waits is gone."""
        self.its.close()
        with suppress(OSError):
            self._mine.shutdown(socket.SHUT_RDWR)
        if self._thread.ident is not None:
            self._thread.join()
        self._mine.close()

    def _hear(self) -> None:
        try:
            while said := self._mine.recv(_MOST_MESSAGE):
                what, number, *rest = marshal.loads(said)  # noqa: S302 - from our own launcher
                self._take(what, number, rest)
        except OSError:
            pass  # the launcher is gone
        finally:
            # Where this ends early, the launcher hears that nobody answers, and refuses.
            with suppress(OSError):
                self._mine.shutdown(socket.SHUT_RDWR)
            for known in self._numbers.values():
                self._desk.gone(known)
                # A yes that came too late for whoever waited did nothing.
                self._desk.failed(known, "the run had ended")
            self._numbers.clear()

    def _take(self, what: str, number: int, rest: list[Any]) -> None:
        if what == "asks":
            self._ask(number, *rest)
            return
        known = self._numbers.get(number)
        if known is None:
            return
        match what:
            case "gone":
                del self._numbers[number]
                self._desk.gone(known)
            case "done":
                del self._numbers[number]
                self._desk.carried_out(known)
                if rest[0] is not None:
                    self._desk.also(known, rest[0])
            case "failed":
                del self._numbers[number]
                name = errno.errorcode.get(rest[0], str(rest[0]))
                self._desk.failed(known, f"{name}: {os.strerror(rest[0])}")

    def _ask(
        self,
        number: int,
        same: tuple[Any, ...],
        wider: list[tuple[Any, ...]],
        asked: dict[str, Any],
    ) -> None:
        path = os.fsdecode(asked["path"])
        is_direct = asked["writes"] and not asked["layer"]
        if self._is_never_held(path, asked) or (is_direct and not self._desk.allows_direct):
            self._answer(number, CLOSED)
            return
        program = asked["program"]

        def held(own: int) -> HeldOperation:
            return HeldOperation(
                own,
                Operation.WRITE if asked["writes"] else Operation.READ,
                path,
                Verb(asked["verb"]),
                creates=asked["verb"] != Verb.OPEN,
                through_layer=asked["layer"],
                pid=asked["pid"],
                program=None if program is None else os.fsdecode(program),
                also_reads=asked["also_reads"],
                is_folder=asked["is_folder"],
            )

        def answered(answer: HeldAnswer) -> None:
            self._answer(number, answer.value)

        self._numbers[number] = self._desk.ask(same, held, answered, wider)

    def _is_never_held(self, path: str, asked: dict[str, Any]) -> bool:
        is_folder = asked["verb"] == Verb.MKDIR
        rule = self._never.rule_against(path)
        if rule is None and asked["writes"]:
            rule = self._never.rule_against_writing(path, is_folder=is_folder)
        return rule is not None

    def _answer(self, number: int, word: str) -> None:
        with suppress(OSError), self._one_at_a_time:
            self._mine.send(marshal.dumps((number, word)))
