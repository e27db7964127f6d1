"""Does several things at once, each in a thread of its own, and leaves none behind.

Whoever is interrupted waits until the others have come to an end; they are told, and stop at the next
opportunity. A problem in one of them is raised when all have ended.
"""

from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Generic, TypeAlias, TypeVar

Result = TypeVar("Result")
IsOver: TypeAlias = Callable[[], bool]
"""Whether no more is to be begun."""
Share: TypeAlias = Callable[[IsOver], Result]


class _Doing(Thread, Generic[Result]):
    """One of the things that are done; `result` or `problem` is there when it has ended."""

    def __init__(self, share: Share[Result], is_over: IsOver) -> None:
        super().__init__()
        self.result: list[Result] = []
        self.problem: BaseException | None = None
        self._share = share
        self._is_over = is_over

    def run(self) -> None:
        """Does it."""
        try:
            self.result.append(self._share(self._is_over))
        except BaseException as problem:  # noqa: BLE001 - raised by whoever waits for it
            self.problem = problem


def at_once(shares: Sequence[Share[Result]]) -> list[Result]:
    """What each came to, in their order."""
    over = Event()
    doing = [_Doing(share, over.is_set) for share in shares]
    try:
        for each in doing:
            each.start()
        for each in doing:
            each.join()
    finally:
        over.set()
        for each in doing:
            if each.ident is not None:
                each.join()
    for each in doing:
        if each.problem is not None:
            raise each.problem
    return [result for each in doing for result in each.result]
