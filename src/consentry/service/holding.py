"""Puts what a running program is refused to a person, while the program waits for the answer.

Every question is an approval request of kind `hold`: whoever may answer requests may answer it, at this
terminal or from another process, and one answer counts. One thread stores the questions and looks at
them all; another puts them to the person here, one after the other. Neither is there before the first
question.

    granted    a yes to exactly what was asked
    refused    a no; or nobody could be asked, whatever the reason
    expired    no answer in time, which is five minutes unless the settings say otherwise

A question ends with its program, with its run, and with the process that put it. Nothing here opens
anything: the engine does, for the one object that it has pinned.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Condition, Thread
from typing import Final

from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass
from consentry.decide.approval import ApprovalRequest
from consentry.decide.heldask import HeldAsk
from consentry.decide.question import Outcome
from consentry.declare.preferences import ApprovalSettings
from consentry.enforce.held import HeldAnswer, HeldOperation, Operation, Reply
from consentry.enforce.native.streamends import Io
from consentry.enforce.streams import Curtain
from consentry.service.approvals import Asker, Desk, Waits
from consentry.service.heldrun import HeldRun, Holding
from consentry.service.leader import this_process
from consentry.service.runrecord import named_path
from consentry.store.journal import Journal

__all__ = ["MOST_OPEN", "HeldRequests", "HeldRun", "Holding", "held_questions"]

MOST_OPEN: Final = 64
"""So many questions of one run wait at once; what is asked for beyond is refused."""

_NOBODY_WAITS: Final = "nobody waits for it any more"
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 0.5
_ANSWERS: Final = {
    Outcome.APPROVED: HeldAnswer.GRANTED,
    Outcome.DENIED: HeldAnswer.REFUSED,
    Outcome.EXPIRED: HeldAnswer.EXPIRED,
    Outcome.SUPERSEDED: HeldAnswer.REFUSED,
}


@dataclass(slots=True)
class _Open:
    """A question that nobody has answered yet."""

    held: HeldOperation
    reply: Reply
    ask: HeldAsk | None = None
    request: ApprovalRequest | None = None


class HeldRequests:
    """The keeper of one run's questions; threads share it. See `enforce.held.HoldKeeper`."""

    def __init__(
        self,
        journal: Journal,
        run: HeldRun,
        holding: Holding,
        settings: ApprovalSettings = ApprovalSettings(),  # noqa: B008 - frozen
        *,
        curtain: Curtain | None = None,
    ) -> None:
        self._journal = journal
        self._desk = Desk(journal, settings)
        self._run = run
        self._holding = holding
        self._settings = settings
        self._curtain = curtain
        self._run_id: str | None = None
        self._open: dict[int, _Open] = {}
        self._new: deque[int] = deque()
        self._left: deque[str] = deque()
        self._to_ask: deque[ApprovalRequest] = deque()
        self._news = Condition()
        self._is_closed = False
        self._is_rung = False
        self._threads: list[Thread] = []

    @property
    def allows_direct(self) -> bool:
        """Whether a write may reach the host at once; not in a rehearsal, nor at level strict."""
        return self._run.allows_direct

    def begun(self, run_id: str) -> None:
        """The id of the decision under which the run begins, for the questions to name."""
        self._run_id = run_id

    def asked(self, held: HeldOperation, answer: Reply) -> None:
        """Puts the question; returns at once."""
        with self._news:
            is_refused = self._is_closed or len(self._open) >= MOST_OPEN
            if not is_refused:
                self._open[held.number] = _Open(held, answer)
                self._new.append(held.number)
                self._start()
                self._news.notify_all()
        if is_refused:
            answer(HeldAnswer.REFUSED)

    def gone(self, number: int) -> None:
        """Nobody waits for that answer any more: the question is taken back."""
        with self._news:
            found = self._open.pop(number, None)
            if found is not None and found.request is not None:
                self._left.append(found.request.request_id)
                self._news.notify_all()

    def close(self) -> None:
        """Takes back every question that is open, and returns when nobody is asked any more."""
        with self._news:
            self._is_closed = True
            self._news.notify_all()
        for each in self._threads:
            each.join()

    def _start(self) -> None:
        if not self._threads:
            for work in (self._watch, self._put_here):
                self._threads.append(Thread(target=work, daemon=True))
                self._threads[-1].start()

    def _watch(self) -> None:
        """Stores what is new, takes back what nobody waits for, and looks for answers."""
        pause = _FIRST_PAUSE
        try:
            while self._is_going_on(pause):
                pause = _FIRST_PAUSE if self._turn() else min(2 * pause, _LONGEST_PAUSE)
        except Exception:  # noqa: BLE001 - whatever it was, nothing is granted that nobody answered
            self._is_closed = True
        finally:
            self._give_up()

    def _is_going_on(self, pause: float) -> bool:
        """Waits for something to be done, or for the time to look again; false when all is over."""
        with self._news:
            self._news.wait_for(
                lambda: self._is_closed or self._is_rung or self._new or self._left,
                pause if self._open else None,
            )
            self._is_rung = False
            return not self._is_closed

    def _turn(self) -> bool:
        """One look at everything; whether anything has happened."""
        with self._news:
            new = [self._open[number] for number in self._new if number in self._open]
            left = list(self._left)
            self._new.clear()
            self._left.clear()
        for each in new:
            self._put(each)
        for request_id in left:
            self._take_back(request_id)
        with self._news:
            waiting = [each for each in self._open.values() if each.request is not None]
        settled = [each for each in waiting if self._is_settled(each)]
        return bool(new or left or settled)

    def _put(self, each: _Open) -> None:
        """Stores one question; one that cannot be stored is refused."""
        held = each.held
        try:
            each.ask = self._ask_of(held)
            context = self._journal.context
            question = each.ask.question(
                session_id=context.session_id, policy_hash=self._run.policy_hash
            )
            request = self._desk.ask(question, Waits.ESCALATION)
        except (ConsentryError, OSError):
            self._answer(each, HeldAnswer.REFUSED, None)
            return
        with self._news:
            each.request = request
            is_wanted = held.number in self._open
            if is_wanted:
                self._to_ask.append(request)
                self._news.notify_all()
        if not is_wanted:
            self._take_back(request.request_id)

    def _ask_of(self, held: HeldOperation) -> HeldAsk:
        is_net = held.operation is Operation.NET
        return HeldAsk(
            subject=self._run.subject,
            operation=held.operation,
            resource=held.path_or_host if is_net else named_path(held.path_or_host),
            verb=held.verb.value,
            process=this_process(),
            creates=held.creates,
            is_folder=held.is_folder,
            also_reads=held.also_reads,
            through_layer=held.through_layer,
            direct=held.is_direct,
            program=None if held.program is None else named_path(held.program),
            arguments=self._run.arguments,
            workspace=self._run.workspace,
            run=self._run_id,
        )

    def _is_settled(self, each: _Open) -> bool:
        """Looks at one question, and passes its answer on if there is one."""
        if each.request is None or each.ask is None:
            return False
        try:
            request = self._desk.look(each.request.request_id)
            if request.answer is None:
                return False
            answer = _ANSWERS[request.answer.outcome]
            # What was answered is what was asked, or it opens nothing.
            if HeldAsk.of(request) != each.ask:
                answer = HeldAnswer.REFUSED
        except (ConsentryError, OSError):
            answer = HeldAnswer.REFUSED
            self._take_back(each.request.request_id)
        self._answer(each, answer, each.request.request_id)
        return True

    def _answer(self, each: _Open, answer: HeldAnswer, request_id: str | None) -> None:
        with self._news:
            self._open.pop(each.held.number, None)
        each.reply(answer, request_id)

    def _take_back(self, request_id: str) -> None:
        # Where it cannot be done now, it is done by whoever looks when this process has ended.
        with suppress(ConsentryError, OSError):
            self._desk.requests.supersede(request_id, _NOBODY_WAITS)

    def _give_up(self) -> None:
        with self._news:
            self._is_closed = True
            left, self._open = list(self._open.values()), {}
            gone = list(self._left)
            self._news.notify_all()
        for each in left:
            each.reply(HeldAnswer.REFUSED)
            if each.request is not None:
                gone.append(each.request.request_id)
        for request_id in gone:
            self._take_back(request_id)

    def _put_here(self) -> None:
        """Puts the questions to the person at this terminal, one after the other."""
        while (request := self._next()) is not None:
            with suppress(Exception):  # the question stays open to every other channel
                asker = self._holding.asker(self._journal, self._settings, self._curtain)
                if asker is not None:
                    request = self._asked_here(request, asker)
                is_over = self._curtain is not None and self._curtain.is_over
                if request.is_pending and not is_over:
                    self._holding.announce(request)
            with self._news:
                self._is_rung = True
                self._news.notify_all()

    def _asked_here(self, request: ApprovalRequest, asker: Asker) -> ApprovalRequest:
        request = self._desk.look(request.request_id)
        try:
            return self._desk.asked(request, asker)
        except ConsentryError:
            return self._desk.look(request.request_id)  # as after a wrong passphrase

    def _next(self) -> ApprovalRequest | None:
        with self._news:
            self._news.wait_for(lambda: self._is_closed or self._to_ask)
            return None if self._is_closed else self._to_ask.popleft()


@contextmanager
def held_questions(
    journal: Journal,
    run: HeldRun,
    holding: Holding,
    io: Io,
    settings: ApprovalSettings,
) -> Iterator[None]:
    """What the run of this `io` is refused is asked about meanwhile."""
    keeper = HeldRequests(journal, run, holding, settings, curtain=io.curtain)
    io.holds, io.begins = keeper, keeper.begun
    try:
        yield
    finally:
        keeper.close()
        io.holds = io.begins = None
