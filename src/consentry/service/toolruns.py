"""Runs a tool from beginning to end: ready, decided, permitted, confined, recorded, committed.

    ready       found, levelled, bound and hashed; the ledger is open before any of it
    decided     by its level, a policy, an earlier yes, or by asking (`tooldecisions`)
    run         the permit is made and spent in the moment of the start, and only then
    committed   at its end; or, at level strict, with the second yes for exactly that effect

Whatever ends before there is a permit leaves an audit entry that says what was asked for and why it did
not run; a question that waits for its answer leaves the request. A strict run whose second question
waits is parked with its effect kept; one that is denied is discarded.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused
from consentry.base.values import dataclass, field, replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consentask import ConsentAsk
from consentry.decide.question import RequestKind
from consentry.declare.tool import ConsentLevel
from consentry.enforce.engines.ground import EngineGround, leading
from consentry.enforce.native.streamends import Io
from consentry.record.auditfields import ConsentMethod, ExecutionStatus
from consentry.service.approvals import Desk
from consentry.service.commitapproval import Asking
from consentry.service.enginechoice import Chosen, EngineDesk, choose_engine, engine_desk
from consentry.service.holdable import as_held, require_holdable
from consentry.service.keepsettings import keeping_of
from consentry.service.keptruns import Place
from consentry.service.ledgers import LedgerPlace, ledger_place
from consentry.service.profiles import profile_word
from consentry.service.recovering import recover_here, tidying_of
from consentry.service.refusals import Asked, record_refusal
from consentry.service.rehearsals import Settled, commit_run, discard_run
from consentry.service.runledger import Run
from consentry.service.runs import Runner
from consentry.service.surroundings import Surroundings, own_home
from consentry.service.takeover import Arrival, TakeoverTerms, require_rehearsable
from consentry.service.toolcalls import ReadyTool, ToolCall, ready_tool
from consentry.service.tooldecisions import Company, Decided, ToolDecisions
from consentry.store.journal import Journal

if TYPE_CHECKING:
    from consentry.service.holding import Holding

OpenIo: TypeAlias = Callable[[str], AbstractContextManager[Io]]
"""Takes the streams for the run of that tool alone: a terminal is for questions before and after."""

DeskFor: TypeAlias = Callable[[EngineGround], AbstractContextManager[EngineDesk]]
"""Where the engines of a run come from: fresh ones, or those that a library keeps."""


class Workshop(Protocol):
    """Where tools are made ready and get their engines: anew for each run, or kept by a library."""

    def place(self, around: Surroundings) -> LedgerPlace:
        """Where the record is kept."""
        ...

    def ready(self, call: ToolCall, around: Surroundings, journal: Journal) -> ReadyTool:
        """The tool as it is now."""
        ...

    def chosen(
        self, ready: ReadyTool, ground: EngineGround, around: Surroundings
    ) -> AbstractContextManager[Chosen]:
        """The engine that holds it, and its plan; raises where there is none."""
        ...


class _Anew:
    """Everything found and made for one run."""

    def place(self, around: Surroundings) -> LedgerPlace:
        return ledger_place(around)

    def ready(self, call: ToolCall, around: Surroundings, journal: Journal) -> ReadyTool:
        return ready_tool(call, around, journal)

    @contextmanager
    def chosen(self, ready: ReadyTool, ground: EngineGround, _: Surroundings) -> Iterator[Chosen]:
        with engine_desk(ground) as desk:
            yield choose_engine(ready.bound.engines, ready.bound.bound.confinement, desk)


_ANEW: Final = _Anew()
_NO_ANSWER_YET: Final = frozenset({Code.APPROVAL_PENDING})
_DENIES: Final = frozenset(
    {
        Code.APPROVAL_DENIED,
        Code.APPROVAL_EXPIRED,
        Code.APPROVAL_SUPERSEDED,
        Code.CONSENT_CLOSED,
        Code.EFFECT_CONFLICT,
    }
)


@dataclass(frozen=True, slots=True)
class ToolWish:
    """How a tool is to be run; `holding` is how what it is refused is asked about, while it waits."""

    rehearses: bool = False
    keep_partial: bool = False
    waits: bool = True
    holding: "Holding | None" = None


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A tool's run that is over; `settled` is what became of a strict run's effect.

    `problem` says why an effect that was to be committed was not; `waits` that the second question
    has no answer yet.
    """

    run: Run
    ready: ReadyTool
    settled: Settled | None = None
    problem: ConsentryError | None = None

    @property
    def waits(self) -> bool:
        """Whether its effect is kept until somebody answers."""
        return self.problem is not None and self.problem.code in _NO_ANSWER_YET

    @property
    def status(self) -> ExecutionStatus:
        """How it ended; a run whose effect was refused is discarded."""
        is_refused = self.problem is not None and not self.waits
        return ExecutionStatus.DISCARDED if is_refused else self.run.status


@dataclass(frozen=True, slots=True)
class ToolRunner:
    """Runs tools for whoever is there, under one ledger."""

    journal: Journal
    around: Surroundings
    company: Company
    wish: ToolWish = field(default_factory=ToolWish)
    workshop: Workshop = _ANEW

    def run(self, call: ToolCall, open_io: OpenIo) -> ToolRun:
        """One run; raises where there is none, and has recorded that then."""
        recover_here(self._place())
        with self._refusals(_asked(call)):
            ready = self._ready(call)
        with self._refusals(_asked_about(ready)):
            decided = self._decisions().decided(ready, lambda: self._ready(call))
        return self._carried_out(decided, open_io)

    def dispatch(self, request: ApprovalRequest, open_io: OpenIo) -> ToolRun:
        """The run that was asked for with this request, once."""
        recover_here(self._place())
        ask = ConsentAsk.of(request)
        call = ToolCall(ask.tool, ask.arguments, ask.workspace, ask.config)
        with self._refusals(_asked(call)):
            ready = self._ready(call)
        with self._refusals(_asked_about(ready)):
            decided = self._decisions().dispatched(request, ready)
        return self._carried_out(decided, open_io)

    def _decisions(self) -> ToolDecisions:
        return ToolDecisions(self.journal, self.around, self.company, self.wish.waits)

    def _ready(self, call: ToolCall) -> ReadyTool:
        return self.workshop.ready(call, self.around, self.journal)

    def _carried_out(self, decided: Decided, open_io: OpenIo) -> ToolRun:
        ready, place = decided.ready, self._place()
        arrival = self._arrival(decided)
        with ExitStack() as held:
            with self._refusals(_asked(ready.call, decided)):
                if self.wish.holding is not None:
                    ready = _holding(ready)
                bound = ready.bound.bound
                require_rehearsable(arrival, bound, place.keeping)
                ground = self._ground(ready, place)
                chosen = held.enter_context(self.workshop.chosen(ready, ground, self.around))
            recover_here(place)
            runner = Runner(chosen.engine, place.journal, place.state, own_home(self.around).path)
            terms = TakeoverTerms(self.wish.keep_partial, arrival, tidying_of(place))
            io = held.enter_context(open_io(ready.name))
            if self.wish.holding is not None:
                held.enter_context(self._questions(self.wish.holding, ready, decided, arrival, io))
            run = runner.run(
                bound,
                chosen.plan,
                io,
                decision=decided.decision,
                terms=terms,
                trigger=ready.call.trigger,
            )
        if arrival is Arrival.WHEN_APPROVED and run.facts.impact.rehearsal is not None:
            return self._second_yes(ToolRun(run, ready), place)
        return ToolRun(run, ready)

    def _questions(
        self, holding: "Holding", ready: ReadyTool, decided: Decided, arrival: Arrival, io: Io
    ) -> AbstractContextManager[None]:
        """Asks about what the run is refused, while it waits."""
        from consentry.service.holding import (  # noqa: PLC0415 - few runs ask
            HeldRun,
            held_questions,
        )

        wanted = ready.bound.bound.confinement
        allows_direct = arrival is Arrival.AT_ITS_END
        run = HeldRun.of(wanted, decided.decision, allows_direct=allows_direct)
        return held_questions(self.journal, run, holding, io, ready.effective.settings.approvals)

    def _arrival(self, decided: Decided) -> Arrival:
        if decided.route.needs_second_yes:
            return Arrival.WHEN_APPROVED
        return Arrival.WHEN_COMMITTED if self.wish.rehearses else Arrival.AT_ITS_END

    def _second_yes(self, over: ToolRun, place: Place) -> ToolRun:
        """Asks for the commit; a no throws the effect away, and silence keeps it."""
        run_id = over.run.audit_id
        asker = self.company.effect_asker(place, over.ready.effective.settings.approvals)
        asking = Asking() if asker is None else Asking(asker)
        try:
            return replace(over, settled=commit_run(place, run_id, asking))
        except Refused as problem:
            if problem.code in _DENIES:
                with suppress(ConsentryError):
                    discard_run(place, run_id)
            return replace(over, problem=problem)

    def _place(self) -> Place:
        folder = self.workshop.place(self.around).folder
        return Place(self.journal, folder, keeping_of(self.around))

    def _ground(self, ready: ReadyTool, place: Place) -> EngineGround:
        around = self.around
        return EngineGround(
            own_home(around).path,
            ready.bound.bound.protected,
            around.environ.get("PATH", ""),
            place.state,
            environ=leading(around.environ),
        )

    @contextmanager
    def _refusals(self, asked: Asked) -> Iterator[None]:
        """Leaves an audit entry for whatever ends in here; a question that waits is no end."""
        try:
            yield
        except ConsentryError as problem:
            if problem.code not in _NO_ANSWER_YET:
                # Nothing ran: what could not be recorded is still told to whoever asked.
                with suppress(ConsentryError, OSError):
                    record_refusal(asked, problem, self.journal)
            raise


def _holding(ready: ReadyTool) -> ReadyTool:
    """The same tool, in a box that holds what it is refused; raises where there can be none."""
    require_holdable(ready.bound.engines, None)
    return replace(ready, bound=replace(ready.bound, bound=as_held(ready.bound.bound)))


def _asked(call: ToolCall, decided: Decided | None = None) -> Asked:
    words = (call.tool, *call.arguments)
    if decided is None:
        return Asked(
            words,
            profile_word(None),
            call.trigger,
            kind="tool",
            method=ConsentMethod.EXPLICIT_APPROVAL,
        )
    decision = decided.decision
    bound = decided.ready.bound
    return Asked(words, bound.bound.profile, call.trigger, tool=bound.facts, decision=decision)


def _asked_about(ready: ReadyTool) -> Asked:
    """Of a tool that is known, at a level that is known, before anybody has answered."""
    is_strict = ready.level.level is ConsentLevel.STRICT
    return Asked(
        (ready.call.tool, *ready.call.arguments),
        ready.bound.bound.profile,
        ready.call.trigger,
        method=ConsentMethod.STRICT_APPROVAL if is_strict else ConsentMethod.EXPLICIT_APPROVAL,
        tool=ready.bound.facts,
        level=ready.level.level,
    )


def find_request(desk: Desk, named: str) -> ApprovalRequest:
    """The request that a run is dispatched for; raises where it asks for something else."""
    request = desk.look(desk.found(named).request_id)
    if request.question.kind is not RequestKind.CONSENT:
        message = f"`{request.request_id}` does not ask whether a tool may run"
        raise Refused(
            Code.ANSWER_REFUSED, message, help_line="`consentry commit RUN` deals with effects"
        )
    return request
