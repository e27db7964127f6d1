"""Somebody who answers what a run is held for, without a store: by a rule, at once or when told to."""

from collections.abc import Callable
from threading import Condition, Thread

from consentry.enforce.held import HeldAnswer, HeldOperation, Operation, Reply

PATIENCE = 30


class Person:
    """Answers questions about connections by `says`; files are refused, and not counted.

    Where `says` gives nothing the question stays open until `answer`.
    """

    allows_direct = True

    def __init__(self, says: Callable[[str], HeldAnswer | None]) -> None:
        self._says = says
        self._change = Condition()
        self._open: dict[int, tuple[str, Reply]] = {}
        self.asked_for: list[str] = []
        self.left: list[int] = []

    def asked(self, held: HeldOperation, answer: Reply) -> None:
        """One question."""
        if held.operation is not Operation.NET:
            answer(HeldAnswer.REFUSED)
            return
        said = self._says(held.path_or_host)
        with self._change:
            self.asked_for.append(held.path_or_host)
            if said is None:
                self._open[held.number] = (held.path_or_host, answer)
            self._change.notify_all()
        if said is not None:
            answer(said, f"request-of-{held.path_or_host}")

    def gone(self, number: int) -> None:
        """Nobody waits for that one."""
        with self._change:
            self.left.append(number)
            self._open.pop(number, None)
            self._change.notify_all()

    def wait(self, count: int) -> None:
        """Until so many questions were put."""
        with self._change:
            assert self._change.wait_for(lambda: len(self.asked_for) >= count, PATIENCE)

    def answer(self, answer: HeldAnswer) -> None:
        """To all that are open."""
        with self._change:
            waiting, self._open = list(self._open.values()), {}
        for place, reply in waiting:
            reply(answer, f"request-of-{place}")

    def meanwhile(self, work: Callable[[], None]) -> Thread:
        """Does something while a run goes on; to be joined."""
        thread = Thread(target=work, daemon=True)
        thread.start()
        return thread


def nobody_yet(_: str) -> None:
    """No answer."""


def yes(_: str) -> HeldAnswer:
    """To everything."""
    return HeldAnswer.GRANTED


def no(_: str) -> HeldAnswer:
    """To everything."""
    return HeldAnswer.REFUSED
