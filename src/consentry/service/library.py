"""Runs programs for another program: as `consentry exec` does, with the launcher and ledger kept open.

The object is the library's session: it begins with the first run, ends when the object is closed, and
is found to be over by whoever looks if the process was killed. `consentry.exec` uses one for the whole
process. What a call of `exec` names is the decision, as a command line is; nothing is asked, and no
decision is kept for a later call. Whether a tool may run is asked of the store for every run. What was
found and compiled for a call is kept while nothing that it rests on has changed.
"""

import atexit
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from threading import Lock, Thread
from typing import Final, TypeAlias

from consentry.base.clock import SystemClock
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.base.values import dataclass, replace
from consentry.enforce.engines.ground import EngineGround, leading
from consentry.enforce.engines.interface import Compiled, Engine
from consentry.enforce.engines.nativecode import SNIPPET
from consentry.enforce.engines.registry import made_engine
from consentry.enforce.native.streamends import Io
from consentry.enforce.streams import write_all
from consentry.record.auditfields import Trigger
from consentry.service.approvals import Desk
from consentry.service.binding import BoundWish, workspace_here
from consentry.service.calloptions import CallOptions, CodeOptions, ExecOptions
from consentry.service.callresults import (
    CodeResult,
    RunResult,
    ToolResult,
    code_result,
    run_result,
    tool_result,
)
from consentry.service.callwishes import NAME, code_wish, run_wish, words_to_run
from consentry.service.codecalls import CodeCalls
from consentry.service.commandline import RunWish, bind_wish
from consentry.service.enginechoice import EngineDesk, choose_engine
from consentry.service.execution import asked_for, asked_meanwhile
from consentry.service.givenvalues import Word
from consentry.service.keepsettings import keeping_of
from consentry.service.keptruns import Place
from consentry.service.kepttools import KeptTools
from consentry.service.ledgers import LedgerPlace, ledger_place, state_folder
from consentry.service.profiles import NamedProfile
from consentry.service.recovering import recover_here, tidying_of
from consentry.service.refusals import Asked, found_profile, refusals_recorded
from consentry.service.remembering import Remembered
from consentry.service.rundecision import RunDecision
from consentry.service.runground import Call, ground_of, is_lasting
from consentry.service.runledger import Run
from consentry.service.runs import Runner
from consentry.service.sessions import end_session_of, journal_of_library
from consentry.service.snippetruns import CodeRunner, asked_for_code
from consentry.service.surroundings import Surroundings, own_home
from consentry.service.takeover import TakeoverTerms, require_rehearsable
from consentry.service.toolcalls import ToolCall
from consentry.service.tooldecisions import NOBODY_HERE
from consentry.service.toolruns import ToolRunner, ToolWish, find_request
from consentry.store.journal import Journal

_Bounds: TypeAlias = tuple[str, EngineGround]

_MOST_ENGINES: Final = 4
_BOXES_AHEAD: Final = 2
_PLAIN: Final = ExecOptions()
_PLAIN_CODE: Final = CodeOptions()


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A call, bound and compiled; `is_lasting` says that paths alone decided how."""

    bound: BoundWish
    home: Path | None
    place: LedgerPlace
    plan: Compiled
    engine: Engine | None
    bounds: _Bounds
    is_lasting: bool


def _ground_of(call: Call[RunWish], prepared: _Prepared) -> Iterator[str]:
    return ground_of(call, prepared.bound, prepared.plan)


def _is_current(prepared: _Prepared) -> bool:
    return (
        prepared.is_lasting
        and prepared.engine is not None
        and prepared.engine.is_current(prepared.plan)
    )


class Library:
    """One session of a program that runs others; threads may share it, forked children may not."""

    def __init__(self) -> None:
        self._made_by = os.getpid()
        self._one_at_a_time = Lock()
        self._engines: dict[_Bounds, Engine] = {}
        self._code = CodeCalls()
        self._journals: dict[LedgerPlace, Journal] = {}
        self._calls: Remembered[Call[RunWish], _Prepared] = Remembered(_ground_of)
        self._kept_tools = KeptTools(self._desk)

    def exec(
        self, argv: Sequence[Word], around: Surroundings, options: ExecOptions = _PLAIN
    ) -> RunResult:
        """One run; see `consentry.exec`, which passes its own surroundings."""
        words = words_to_run(argv)
        profile = self._profile(options, Asked(words, trigger=Trigger.API), around)
        wish = run_wish(words, options, profile)
        with _input_from(options.stdin) as descriptor:
            io = Io(stdin=descriptor, keeps=True)
            return run_result(self._run(wish, around, io, options))

    def run_decided(
        self,
        wish: RunWish,
        around: Surroundings,
        decision: RunDecision,
        *,
        workspace: str,
        only_on_success: bool,
    ) -> RunResult:
        """One run that something else than this call decided: a capability token."""
        options = ExecOptions(workspace=workspace)
        io = Io(keeps=True)
        return run_result(
            self._run(wish, around, io, options, decision, only_on_success=only_on_success)
        )

    def _run(
        self,
        wish: RunWish,
        around: Surroundings,
        io: Io,
        options: ExecOptions,
        decision: RunDecision | None = None,
        *,
        only_on_success: bool = False,
    ) -> Run:
        with refusals_recorded(asked_for(wish, Trigger.API), lambda: self._kept_journal(around)):
            keeping = keeping_of(around)
            prepared = self._prepared(wish, around, options.named_workspace())
            require_rehearsable(options.arrival(), prepared.bound, keeping)
        with self._engine(prepared) as engine:
            place = prepared.place
            journal = self._journal(place, around)
            here = Place(journal, place.folder, keeping)
            recover_here(here)
            runner = Runner(engine, journal, place.folder, prepared.home)
            terms = TakeoverTerms(
                options.keep_partial,
                options.arrival(),
                tidying_of(here),
                only_on_success=only_on_success,
            )
            with self._questions(options, journal, prepared.bound, io, around):
                return runner.run(
                    prepared.bound,
                    prepared.plan,
                    io,
                    decision=decision,
                    terms=terms,
                    trigger=Trigger.API,
                )

    def _questions(
        self,
        options: ExecOptions,
        journal: Journal,
        bound: BoundWish,
        io: Io,
        around: Surroundings,
    ) -> AbstractContextManager[None]:
        """Asks about what the run is refused, where the call says so."""
        told_of = options.told_of()
        if told_of is None:
            return nullcontext()
        from consentry.service.holding import Holding  # noqa: PLC0415 - few runs ask

        holding = Holding(announce=lambda request: told_of(request.request_id))
        return asked_meanwhile(holding, journal, bound, options.arrival(), io, around)

    def _prepared(self, wish: RunWish, around: Surroundings, workspace: str | None) -> "_Prepared":
        call = Call.of(wish, around, workspace)
        if wish.secrets:
            return self._prepare(call)  # what is in a file now is what is sent
        try:
            hash(call)
        except TypeError:
            return self._prepare(call)  # a profile, which is read anew each time
        return self._calls.answer(call, lambda: self._prepare(call), _is_current)

    def _prepare(self, call: Call[RunWish]) -> "_Prepared":
        around = call.around
        workspace = workspace_here(around, call.workspace)
        state_folder(around)
        bound = bind_wish(call.wish, workspace, around)
        home, place = own_home(around).path, ledger_place(around)
        path = around.environ.get("PATH", "")
        ground = EngineGround(
            home, bound.protected, path, place.folder, _BOXES_AHEAD, leading(around.environ)
        )
        desk = EngineDesk(lambda name: self._kept_engine(name, ground) or made_engine(name, ground))
        chosen = choose_engine(call.wish.engines, bound.confinement, desk)
        bounds = (chosen.engine.name, ground)
        kept = chosen.engine if self._engines.get(bounds) is chosen.engine else None
        return _Prepared(bound, home, place, chosen.plan, kept, bounds, is_lasting(call))

    def run_code(
        self, source: str | bytes, around: Surroundings, options: CodeOptions = _PLAIN_CODE
    ) -> CodeResult:
        """One snippet; see `consentry.run_code`, which passes its own surroundings."""
        asked = Asked((NAME,), trigger=Trigger.API, kind=SNIPPET)
        wish = code_wish(source, options, self._profile(options, asked, around))
        asked = asked_for_code(wish, Trigger.API)
        with refusals_recorded(asked, lambda: self._kept_journal(around)):
            prepared = self._code.prepared(wish, around, options.named_workspace())
        place = prepared.place
        journal = self._journal(place, around)
        here = Place(journal, place.folder, keeping_of(around))
        if prepared.plan.snippet.plan.layered:
            recover_here(here)
        runner = CodeRunner(prepared.engine, journal, place.folder, prepared.home)
        terms = TakeoverTerms(tidying=tidying_of(here))
        io = Io(keeps=True)
        run = runner.run(wish, prepared.bound, prepared.plan, io, Trigger.API, terms=terms)
        return code_result(run)

    def run_tool(self, call: ToolCall, around: Surroundings, wish: ToolWish) -> ToolResult:
        """One run of a tool; see `consentry.run_tool`, which passes its own surroundings."""
        return tool_result(self._tools(around, wish).run(call, _kept))

    def run_request(self, request: str, around: Surroundings, wish: ToolWish) -> ToolResult:
        """The run that was asked for with a request; see `consentry.run_request`."""
        runner = self._tools(around, wish)
        return tool_result(runner.dispatch(find_request(Desk(runner.journal), request), _kept))

    def _tools(self, around: Surroundings, wish: ToolWish) -> ToolRunner:
        return ToolRunner(self.journal(around), around, NOBODY_HERE, wish, self._kept_tools)

    def journal(self, around: Surroundings) -> Journal:
        """The ledger under this object's session."""
        return self._journal(self._kept_tools.place(around), around)

    @contextmanager
    def _desk(self, ground: EngineGround) -> Iterator[EngineDesk]:
        """The engines that are kept; those beyond them are closed behind the run."""
        own: list[Engine] = []

        def engine(name: str) -> Engine:
            kept = self._kept_engine(name, ahead)
            if kept is not None:
                return kept
            own.append(made_engine(name, ground))
            return own[-1]

        ahead = replace(ground, ahead=_BOXES_AHEAD)
        try:
            yield EngineDesk(engine)
        finally:
            for each in own:
                each.close()

    def effects(self, around: Surroundings) -> Place:
        """Where the effects of earlier runs are dealt with, in this session."""
        place = ledger_place(around)
        here = Place(self._journal(place, around), place.folder, keeping_of(around))
        recover_here(here)
        return here

    def _profile(
        self, options: CallOptions, asked: Asked, around: Surroundings
    ) -> NamedProfile | None:
        named = options.named_profile()
        return found_profile(named, asked, around, lambda: self._kept_journal(around))

    def _kept_engine(self, name: str, ground: EngineGround) -> Engine | None:
        """The one that is kept for these; None beyond a few."""
        with self._one_at_a_time:
            engine = self._engines.get((name, ground))
            if engine is None and len(self._engines) < _MOST_ENGINES:
                engine = self._engines[name, ground] = made_engine(name, ground)
            return engine

    @contextmanager
    def _engine(self, prepared: "_Prepared") -> Iterator[Engine]:
        """The one that is kept, or one for this run alone."""
        if prepared.engine is not None:
            yield prepared.engine
            return
        name, ground = prepared.bounds
        engine = made_engine(name, replace(ground, ahead=0))
        try:
            yield engine
        finally:
            engine.close()

    def _kept_journal(self, around: Surroundings) -> AbstractContextManager[Journal]:
        return nullcontext(self._journal(ledger_place(around), around))

    def _journal(self, place: LedgerPlace, around: Surroundings) -> Journal:
        with self._one_at_a_time:
            if place not in self._journals:
                clock = SystemClock()
                self._journals[place] = journal_of_library(around, clock, Uuid7Ids(clock))
                # Behind what the database registered, and so called before it is closed.
                atexit.unregister(self._close_at_exit)
                atexit.register(self._close_at_exit)
            return self._journals[place]

    def close(self) -> None:
        """Ends the launchers and the session; a forked child leaves its parent's alone."""
        if os.getpid() != self._made_by:
            return
        with self._one_at_a_time, ExitStack() as closing:
            for journal in self._journals.values():
                closing.callback(end_session_of, journal)
            for engine in self._engines.values():
                closing.callback(engine.close)
            closing.callback(self._code.close)
            self._journals, self._engines = {}, {}
            self._calls = Remembered(_ground_of)
            self._kept_tools = KeptTools(self._desk)
            atexit.unregister(self._close_at_exit)

    def _close_at_exit(self) -> None:
        # A session that could not be ended is found to be over by whoever looks.
        with suppress(ConsentryError):
            self.close()


@contextmanager
def _kept(_: str) -> Iterator[Io]:
    yield Io(keeps=True)


def library_of_this_process() -> Library:
    """The one that `consentry.exec` uses, closed when the process ends."""
    return _library_of(os.getpid())


@cache
def _library_of(_process: int) -> Library:
    return Library()


@contextmanager
def _input_from(content: bytes | None) -> Iterator[int | None]:
    """A descriptor to read the content from; a pipe, because what is in one cannot be executed."""
    if not content:
        yield None
        return
    reader, writer = os.pipe2(os.O_CLOEXEC)
    feeder = Thread(target=_feed, args=(writer, content), daemon=True)
    feeder.start()
    try:
        yield reader
    finally:
        os.close(reader)
        feeder.join()


def _feed(writer: int, content: bytes) -> None:
    try:
        write_all(writer, content)
    finally:
        os.close(writer)
