"""Operations that wait inside a run while a person decides, and what became of each.

A call that the grants refuse is kept waiting by whoever mediates it: the native engine for files, the
proxy for connections. It is put to a keeper, who must not block, and who answers once, from any thread.
`HeldDesk` stands between: it gives every question its number, asks the same thing of one run once, keeps
what was answered for the rest of the run, and keeps the record.

Not promised: that whoever asked is still there when the answer comes. An answer to one that is gone is
dropped, and a question that nobody waits for any more is taken back by `gone`.
"""

import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from enum import StrEnum
from threading import RLock
from typing import Final, Protocol

from consentry.base.values import dataclass, field
from consentry.surface.operations import Operation

__all__ = [
    "MOST_ASKED",
    "HeldAnswer",
    "HeldDesk",
    "HeldOperation",
    "HeldRecord",
    "HoldKeeper",
    "Operation",
    "Verb",
    "opened_in_layer",
]

MOST_ASKED: Final = 1000
"""A run that has put so many questions puts no more: what it asks for then is refused as ever."""

_MOST_KEPT: Final = 10_000


class Verb(StrEnum):
    """What the call would do."""

    OPEN = "open"
    CREATE = "create"
    MKDIR = "mkdir"
    CONNECT = "connect"


class HeldAnswer(StrEnum):
    """What became of a held operation."""

    GRANTED = "granted"
    REFUSED = "refused"
    EXPIRED = "expired"
    GONE = "gone"
    """Whoever asked ended before there was an answer; no keeper gives this one."""
    UNASKED = "closed"
    """Nobody was asked, nor could be; no keeper gives this one, and no record has it. Whoever holds the
    call refuses it as one that is never held, and notes that."""


@dataclass(frozen=True, slots=True)
class HeldOperation:
    """One thing that a run asks for; the name is that of the very object that a yes opens.

    `also_reads` says that a write comes with reading. With `through_layer` what is written stays in
    the run's layer; without, a write reaches the host at once.
    """

    number: int
    operation: Operation
    path_or_host: str
    verb: Verb
    creates: bool = False
    through_layer: bool = False
    pid: int = 0
    program: str | None = None
    also_reads: bool = False
    is_folder: bool = False
    """A folder whose names are to be listed, and no more."""

    @property
    def is_direct(self) -> bool:
        """Whether a yes has the host itself written, at once."""
        return self.operation is Operation.WRITE and not self.through_layer


class HoldKeeper(Protocol):
    """Who is asked; an engine gets one by `Io.holds`, and holds nothing without."""

    @property
    def allows_direct(self) -> bool:
        """Whether a write may reach the host at once; else it is refused, and nobody is asked."""
        ...

    def asked(self, held: HeldOperation, answer: "Reply") -> None:
        """Puts the question; returns at once. The answer is given once, from any thread."""
        ...

    def gone(self, number: int) -> None:
        """Nobody waits for that answer any more."""
        ...


class Reply(Protocol):
    """How a keeper answers; `request_id` names the approval request that was answered."""

    def __call__(self, answer: HeldAnswer, request_id: str | None = None) -> None:
        """Ends the waiting; every call after the first does nothing."""
        ...


@dataclass(frozen=True, slots=True)
class HeldRecord:
    """A held operation as it stands in the record of a run.

    `direct` says that it was granted and wrote the host at once; `times` counts every call that got
    this answer, `seconds` is how long the first one waited. `error` names what the system said
    where a granted one could not be carried out.
    """

    held: HeldOperation
    answer: HeldAnswer
    request_id: str | None = None
    direct: bool = False
    times: int = 1
    seconds: float = 0.0
    error: str | None = None


def opened_in_layer(records: Iterable[HeldRecord]) -> Iterator[str]:
    """What was written after a yes and lies in the layer: a commit may take it over."""
    for each in records:
        is_done = each.answer is HeldAnswer.GRANTED and each.error is None
        if is_done and each.held.operation is Operation.WRITE and each.held.through_layer:
            yield each.held.path_or_host


@dataclass(slots=True)
class _Question:
    held: HeldOperation
    since: float
    waiting: dict[int, Callable[[HeldAnswer], None]] = field(default_factory=dict)
    answer: HeldAnswer | None = None
    request_id: str | None = None
    times: int = 1
    seconds: float = 0.0
    error: str | None = None
    is_done: bool = False

    def record(self, answer: HeldAnswer) -> HeldRecord:
        error = None if self.is_done else self.error
        is_granted = answer is HeldAnswer.GRANTED and error is None
        return HeldRecord(
            self.held,
            answer,
            self.request_id,
            is_granted and self.held.is_direct,
            self.times,
            self.seconds,
            error,
        )


class HeldDesk:
    """The questions of one run; threads may share it.

    `same` names what is asked about, the object and the kind of access: who asks for the same waits
    for the same answer, or gets the one that was given. No answer but `gone` is asked for again.
    """

    def __init__(self, keeper: HoldKeeper) -> None:
        self._keeper = keeper
        self._lock = RLock()
        self._questions: dict[int, _Question] = {}
        self._known: dict[Hashable, _Question] = {}
        self._waiters: dict[int, _Question] = {}
        self._answered: dict[int, _Question] = {}
        self._last = 0
        self._is_closed = False

    @property
    def allows_direct(self) -> bool:
        """As the keeper says."""
        return self._keeper.allows_direct

    def ask(
        self,
        same: Hashable,
        held: Callable[[int], HeldOperation],
        answer: Callable[[HeldAnswer], None],
        covered_by: Iterable[Hashable] = (),
    ) -> int:
        """Has it decided, and returns the number under which `gone` takes it back.

        `held` makes the operation from its number. `answer` may be called before this returns. A
        yes to one of `covered_by`, which names wider access to the same, is a yes to this.
        """
        with self._lock:
            self._last += 1
            number = self._last
            known = self._granted(covered_by) or self._known.get(same)
            given: HeldAnswer | None = None
            if known is not None:
                known.times += 1
                if known.answer is None:
                    known.waiting[number] = answer
                    self._waiters[number] = known
                    return number
                given = known.answer
                self._keep(number, known)
            elif self._is_closed or len(self._questions) >= MOST_ASKED:
                given = HeldAnswer.UNASKED
            else:
                known = _Question(held(number), time.monotonic(), {number: answer})
                self._questions[number] = self._known[same] = self._waiters[number] = known
        if given is not None:
            answer(given)
        elif known is not None:
            self._put(known)
        return number

    def _put(self, question: _Question) -> None:
        reply = self._reply_to(question)
        try:
            self._keeper.asked(question.held, reply)
        except Exception as problem:  # noqa: BLE001 - whoever waits must not wait for nobody
            question.error = f"nobody could be asked: {problem}"
            reply(HeldAnswer.REFUSED)

    def _granted(self, wider: Iterable[Hashable]) -> _Question | None:
        found = (self._known.get(each) for each in wider)
        return next((q for q in found if q and q.answer is HeldAnswer.GRANTED), None)

    def gone(self, number: int) -> None:
        """Whoever asked under this number waits no more; the question goes with the last of them."""
        with self._lock:
            question = self._waiters.pop(number, None)
            if question is None:
                return
            question.waiting.pop(number, None)
            if question.waiting or question.answer is not None:
                return
            self._settle(question, HeldAnswer.GONE, None)
        self._keeper.gone(question.held.number)

    def carried_out(self, number: int) -> None:
        """What was granted was done for the one who asked under this number."""
        with self._lock:
            question = self._answered.get(number)
            if question is not None:
                question.is_done = True

    def failed(self, number: int, error: str) -> None:
        """What was granted was not done for the one who asked under this number.

        That is told where it was done for nobody.
        """
        with self._lock:
            question = self._answered.get(number)
            is_granted = question is not None and question.answer is HeldAnswer.GRANTED
            if question is not None and is_granted and question.error is None:
                question.error = error

    def also(self, number: int, same: Hashable) -> None:
        """What was answered under this number answers this, too: it came to be by that answer."""
        with self._lock:
            question = self._answered.get(number)
            if question is not None:
                self._known.setdefault(same, question)

    def close(self) -> None:
        """The run is over: whatever still waits is gone."""
        with self._lock:
            self._is_closed = True
            left = list(self._waiters)
        for number in left:
            self.gone(number)

    def records(self) -> tuple[HeldRecord, ...]:
        """What was held so far and is settled, in the order in which it was asked for."""
        with self._lock:
            return tuple(
                each.record(each.answer)
                for each in self._questions.values()
                if each.answer is not None
            )

    def _keep(self, number: int, question: _Question) -> None:
        """Until it was carried out; of a run that asks a million times, those of late."""
        self._answered[number] = question
        if len(self._answered) > _MOST_KEPT:
            del self._answered[next(iter(self._answered))]

    def _reply_to(self, question: _Question) -> Reply:
        def reply(answer: HeldAnswer, request_id: str | None = None) -> None:
            with self._lock:
                if question.answer is not None:
                    return
                waiting = list(question.waiting.items())
                self._settle(question, answer, request_id)
            for _, tell in waiting:
                tell(answer)

        return reply

    def _settle(self, question: _Question, answer: HeldAnswer, request_id: str | None) -> None:
        question.answer, question.request_id = answer, request_id
        question.seconds = time.monotonic() - question.since
        for number in question.waiting:
            self._waiters.pop(number, None)
            self._keep(number, question)
        question.waiting.clear()
        if answer is HeldAnswer.GONE:
            self._known = {key: each for key, each in self._known.items() if each is not question}
