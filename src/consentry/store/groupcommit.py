"""One commit for everybody who is waiting: the first to come commits for all.

A caller puts its work in the queue. If nobody is committing it leads: it takes everything that
waits, commits it in one transaction, waits for the disk and tells each caller how that ended.
Whoever came meanwhile waits, and the first of them leads next, as soon as the commit is done and
while the disk is still busy. No caller leads twice in a row for others, and a caller that is
interrupted, wherever it is, tells those it leads and hands its turn on.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from typing import Generic, TypeVar

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")


class _Ticket(Generic[Work, Outcome]):
    """Work that waits for a commit, and how it ended; `batch` is what its caller leads."""

    __slots__ = ("batch", "gate", "is_done", "outcome", "problem", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.outcome: Outcome | None = None
        self.problem: BaseException | None = None
        self.is_done = False
        self.batch: list[_Ticket[Work, Outcome]] = []
        # Held from the start: waiting is acquiring it a second time.
        self.gate = Lock()
        self.gate.acquire()

    def open_gate(self) -> None:
        """Lets its caller go on; one that went on already does not mind."""
        with suppress(RuntimeError):
            self.gate.release()


class GroupCommit(Generic[Work, Outcome]):
    """Joins the work of many threads into few commits.

    `commit` is handed everything that waits, in the order it came, and returns one outcome for
    each. When it raises, every one of them is told; but where `is_fault_of_one` says that a single
    one is to blame, each is committed alone, so that only that one fails. `sync` returns when what
    was committed is durable, and may be called by several threads at once.
    """

    def __init__(
        self,
        commit: Callable[[Sequence[Work]], Sequence[Outcome]],
        sync: Callable[[], None],
        is_fault_of_one: Callable[[Exception], bool],
    ) -> None:
        self._commit = commit
        self._sync = sync
        self._is_fault_of_one = is_fault_of_one
        self._lock = Lock()
        self._waiting: list[_Ticket[Work, Outcome]] = []
        self._leader: _Ticket[Work, Outcome] | None = None

    def submit(self, work: Work) -> Outcome:
        """Returns when the work is committed, or raises what the commit raised."""
        ticket: _Ticket[Work, Outcome] = _Ticket(work)
        try:
            if not self._leads(ticket):
                ticket.gate.acquire()
            if not ticket.is_done:
                self._lead(ticket)
        except BaseException as problem:
            self._give_up(ticket, problem)
            raise
        if ticket.problem is not None:
            raise ticket.problem
        return ticket.outcome  # type: ignore[return-value]

    def _leads(self, ticket: _Ticket[Work, Outcome]) -> bool:
        """Puts it in the queue; whether its caller is the one to commit."""
        with self._lock:
            self._waiting.append(ticket)
            if self._leader is None:
                self._leader = ticket
            return self._leader is ticket

    def _lead(self, own: _Ticket[Work, Outcome]) -> None:
        with self._lock:
            own.batch = self._waiting[:]
            self._waiting.clear()
        self._settle(own.batch)
        with self._lock:
            self._name_next_leader()
        if any(ticket.problem is None for ticket in own.batch):
            self._sync()
        _answer(own.batch)

    def _give_up(self, own: _Ticket[Work, Outcome], problem: BaseException) -> None:
        """Leaves the others as they should be, whatever was under way when `problem` came."""
        with self._lock:
            left = {own, *own.batch}
            self._waiting = [ticket for ticket in self._waiting if ticket not in left]
            if self._leader is own:
                self._name_next_leader()
            elif self._leader is not None:
                self._leader.open_gate()  # it may have been named and not told
        # An interrupt is for this thread alone; the others only learn that it was not done.
        failed = _told_to_others(problem)
        for ticket in own.batch:
            if ticket.problem is None and not ticket.is_done:
                ticket.problem = failed
        _answer(own.batch)

    def _settle(self, batch: list[_Ticket[Work, Outcome]]) -> None:
        try:
            outcomes = self._commit([ticket.work for ticket in batch])
        except Exception as problem:  # noqa: BLE001 - handed to whoever waits for it
            if len(batch) > 1 and self._is_fault_of_one(problem):
                for ticket in batch:
                    self._settle([ticket])
                return
            for ticket in batch:
                ticket.problem = problem
            return
        for ticket, outcome in zip(batch, outcomes, strict=True):
            ticket.outcome = outcome

    def _name_next_leader(self) -> None:
        """Opens the gate of whoever waits longest; its work is not done, so it leads."""
        self._leader = self._waiting[0] if self._waiting else None
        if self._leader is not None:
            self._leader.open_gate()


def _answer(batch: Sequence[_Ticket[Work, Outcome]]) -> None:
    for ticket in batch:
        ticket.is_done = True
    for ticket in batch:
        ticket.open_gate()


def _told_to_others(problem: BaseException) -> BaseException:
    if isinstance(problem, Exception):
        return problem
    return LedgerProblem(Code.LEDGER_UNWRITABLE, "the committing thread was interrupted")
