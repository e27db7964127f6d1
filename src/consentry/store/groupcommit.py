"""One commit for everybody who is waiting: the first to come commits for all.

A caller puts its work in the queue. If nobody is committing it leads: it takes everything that
waits, commits it in one transaction, waits for the disk and tells each caller how that ended.
Whoever came meanwhile waits, and the first of them leads next, as soon as the commit is done and
while the disk is still busy. No caller leads twice in a row for others, and a caller that is
interrupted while it waits hands its turn on.
"""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")


class _Ticket(Generic[Work, Outcome]):
    """Work that waits for a commit, and how it ended."""

    __slots__ = ("gate", "is_done", "outcome", "problem", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.outcome: Outcome | None = None
        self.problem: BaseException | None = None
        self.is_done = False
        # Held from the start: waiting is acquiring it a second time.
        self.gate = Lock()
        self.gate.acquire()


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
        self._has_leader = False

    def submit(self, work: Work) -> Outcome:
        """Returns when the work is committed, or raises what the commit raised."""
        ticket: _Ticket[Work, Outcome] = _Ticket(work)
        with self._lock:
            self._waiting.append(ticket)
            leads = not self._has_leader
            self._has_leader = True
        if not leads:
            self._wait(ticket)
        if not ticket.is_done:
            self._lead(ticket)
        if ticket.problem is not None:
            raise ticket.problem
        return ticket.outcome  # type: ignore[return-value]

    def _wait(self, ticket: _Ticket[Work, Outcome]) -> None:
        try:
            ticket.gate.acquire()
        except BaseException:
            with self._lock:
                was_named_leader = not ticket.gate.locked() and not ticket.is_done
                if ticket in self._waiting:
                    self._waiting.remove(ticket)
                if was_named_leader:
                    self._name_next_leader()
            raise

    def _lead(self, own: _Ticket[Work, Outcome]) -> None:
        with self._lock:
            batch, self._waiting = self._waiting, []
        has_passed_on = False
        try:
            self._settle(batch)
            with self._lock:
                has_passed_on = True
                self._name_next_leader()
            if any(ticket.problem is None for ticket in batch):
                self._sync()
        except BaseException as problem:  # noqa: BLE001 - every waiter must be told
            # An interrupt is for this thread alone; the others only learn that it was not done.
            failed = _told_to_others(problem)
            for ticket in batch:
                if ticket.problem is None:
                    ticket.problem = problem if ticket is own else failed
        for ticket in batch:
            ticket.is_done = True
        if not has_passed_on:
            with self._lock:
                self._name_next_leader()
        for ticket in batch:
            ticket.gate.release()

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
        if self._waiting:
            self._waiting[0].gate.release()
        else:
            self._has_leader = False


def _told_to_others(problem: BaseException) -> BaseException:
    if isinstance(problem, Exception):
        return problem
    return LedgerProblem(Code.LEDGER_UNWRITABLE, "the committing thread was interrupted")
