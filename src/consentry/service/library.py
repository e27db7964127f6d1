"""Runs programs for another program: as `consentry exec` does, with the launcher and ledger kept open.

The object is the library's session: it begins with the first run, ends when the object is closed, and
is found to be over by whoever looks if the process was killed. `consentry.exec` uses one for the whole
process. What a call names is the decision, as a command line is; nothing is asked, and nothing is kept
that a later call could use.
"""

import atexit
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock, Thread
from typing import Final, TypeAlias, Unpack

from consentry.base.canonical import Json
from consentry.base.clock import SystemClock
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.enforce.commitrecover import recover
from consentry.enforce.confinement import Limits
from consentry.enforce.engines.native import Io, NativeEngine, NativePlan
from consentry.enforce.engines.nativecode import SNIPPET
from consentry.enforce.streams import write_all
from consentry.enforce.violations import PermissionDenied
from consentry.record.auditfields import Trigger
from consentry.service.codecalls import CodeCalls
from consentry.service.codelibrary import NAME, CodeResult, CodeWanted, code_wish
from consentry.service.commandline import BoundWish, RunWish
from consentry.service.execution import asked_for, bound_here
from consentry.service.givenvalues import Word, one_of, positive, words_of, wrong
from consentry.service.ledgers import LedgerPlace, ledger_place
from consentry.service.refusals import Asked, found_profile, profile_word, refusals_recorded
from consentry.service.remembering import Remembered
from consentry.service.runground import Call, ground_of, is_lasting
from consentry.service.runs import Run, Runner
from consentry.service.sessions import end_session_of, journal_of_library
from consentry.service.snippetruns import CodeRunner, asked_for_code
from consentry.service.surroundings import Surroundings, own_home
from consentry.store.journal import Journal
from consentry.surface.modes import Denials, View
from consentry.surface.permission_sets import PermissionSet
from consentry.surface.protected import ProtectedRoots

_Bounds: TypeAlias = tuple[Path | None, ProtectedRoots]

_MOST_ENGINES: Final = 4
_BOXES_AHEAD: Final = 2


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run that is over and recorded.

    `status` is a word of the audit entry: `success`, `failure`, `timeout`, `killed`, `limit` or
    `discarded`. `violations` are what was stopped, `record` is the whole entry. The output is the
    program's own word; `output_complete` is false where there was more of it than is kept.
    """

    run_id: str
    status: str
    exit_code: int | None
    signal: int | None
    limit: str | None
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)
    output_complete: bool
    violations: tuple[PermissionDenied, ...]
    committed: bool
    discarded: str | None
    record: Mapping[str, Json] = field(repr=False)

    @classmethod
    def of(cls, run: Run) -> "RunResult":
        """What a caller gets to see of a run."""
        outcome, impact = run.outcome, run.facts.impact
        return cls(
            run_id=run.audit_id,
            status=run.status.value,
            exit_code=outcome.exit_code,
            signal=outcome.signal,
            limit=outcome.limit,
            stdout=outcome.stdout,
            stderr=outcome.stderr,
            output_complete=len(outcome.stdout) + len(outcome.stderr) >= outcome.output_bytes,
            violations=run.facts.violations,
            committed=impact.committed,
            discarded=impact.discarded,
            record=run.entry,
        )


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A call, bound and compiled; `is_lasting` says that paths alone decided how."""

    bound: BoundWish
    home: Path | None
    place: LedgerPlace
    plan: NativePlan
    engine: NativeEngine | None
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
        self._engines: dict[_Bounds, NativeEngine] = {}
        self._code = CodeCalls()
        self._journals: dict[LedgerPlace, Journal] = {}
        self._calls: Remembered[Call[RunWish], _Prepared] = Remembered(_ground_of)

    def exec(
        self,
        argv: Sequence[Word],
        around: Surroundings,
        *,
        workspace: Word | None = None,
        read: Sequence[Word] = (),
        write: Sequence[Word] = (),
        programs: Sequence[Word] = (),
        environment: Sequence[str] = (),
        permission_set: str | None = None,
        profile: str | None = None,
        view: str | None = None,
        attest: bool = False,
        timeout: float | None = None,
        memory: int | None = None,
        cpu: int | None = None,
        processes: int | None = None,
        max_output: int | None = None,
        stdin: bytes | None = None,
        keep_partial: bool = False,
    ) -> RunResult:
        """One run; see `consentry.exec`, which passes its own surroundings."""
        if permission_set is not None and profile is not None:
            raise wrong("`permission_set` and `profile` exclude each other")
        words = words_of("argv", argv)
        asked = Asked(words, trigger=Trigger.API)
        wish = RunWish(
            words=words,
            permission_set=None if permission_set is None else PermissionSet.named(permission_set),
            profile=found_profile(profile, asked, around, lambda: self._kept_journal(around)),
            read=words_of("read", read),
            write=words_of("write", write),
            execute=words_of("programs", programs),
            environment=words_of("environment", environment),
            view=one_of("view", view, View),
            denials=Denials.ATTESTED if attest else Denials.OBSERVED,
            limits=Limits(
                cpu_seconds=positive("cpu", cpu),
                memory_bytes=positive("memory", memory),
                processes=positive("processes", processes),
                output_bytes=positive("max_output", max_output),
                wall_seconds=positive("timeout", timeout),
            ),
        )
        if not wish.words:
            raise wrong("`argv` has no program in it")
        named = None if workspace is None else os.fspath(workspace)
        with _input_from(stdin) as descriptor:
            io = Io(stdin=descriptor, keeps=True)
            return RunResult.of(self._run(wish, around, io, named, keep_partial=keep_partial))

    def _run(
        self,
        wish: RunWish,
        around: Surroundings,
        io: Io,
        workspace: str | None,
        *,
        keep_partial: bool,
    ) -> Run:
        with refusals_recorded(asked_for(wish, Trigger.API), lambda: self._kept_journal(around)):
            prepared = self._prepared(wish, around, workspace)
        with self._engine(prepared) as engine:
            place = prepared.place
            journal = self._journal(place, around)
            recover(place.folder)
            runner = Runner(engine, journal, place.folder, prepared.home)
            return runner.run(
                prepared.bound,
                prepared.plan,
                io,
                keep_partial=keep_partial,
                trigger=Trigger.API,
            )

    def _prepared(self, wish: RunWish, around: Surroundings, workspace: str | None) -> "_Prepared":
        call = Call.of(wish, around, workspace)
        try:
            hash(call)
        except TypeError:
            return self._prepare(call)  # a profile, which is read anew each time
        return self._calls.answer(call, lambda: self._prepare(call), _is_current)

    def _prepare(self, call: Call[RunWish]) -> "_Prepared":
        around = call.around
        bound = bound_here(call.wish, around, call.workspace)
        home = own_home(around).path
        engine = self._kept_engine(home, bound.protected)
        plan = (engine or NativeEngine(home, bound.protected)).compile(bound.confinement)
        return _Prepared(bound, home, ledger_place(around), plan, engine, is_lasting(call))

    def run_code(
        self,
        source: str | bytes,
        around: Surroundings,
        *,
        workspace: Word | None = None,
        **wanted: Unpack[CodeWanted],
    ) -> CodeResult:
        """One snippet; see `consentry.run_code`, which passes its own surroundings."""
        word = profile_word(None, wanted.get("profile"))
        asked = Asked((NAME,), word, Trigger.API, SNIPPET)
        with refusals_recorded(asked, lambda: self._kept_journal(around)):
            wish = code_wish(source, around, **wanted)
        named = None if workspace is None else os.fspath(workspace)
        asked = asked_for_code(wish, Trigger.API)
        with refusals_recorded(asked, lambda: self._kept_journal(around)):
            prepared = self._code.prepared(wish, around, named)
        place = prepared.place
        journal = self._journal(place, around)
        if prepared.plan.snippet.plan.layered:
            recover(place.folder)
        runner = CodeRunner(prepared.engine, journal, place.folder, prepared.home)
        run = runner.run(wish, prepared.bound, prepared.plan, Io(keeps=True), Trigger.API)
        return CodeResult.of(run)

    def _kept_engine(self, home: Path | None, protected: ProtectedRoots) -> NativeEngine | None:
        """The one that is kept for these; None beyond a few."""
        with self._one_at_a_time:
            engine = self._engines.get((home, protected))
            if engine is None and len(self._engines) < _MOST_ENGINES:
                engine = NativeEngine(home, protected, ahead=_BOXES_AHEAD)
                self._engines[home, protected] = engine
            return engine

    @contextmanager
    def _engine(self, prepared: "_Prepared") -> Iterator[NativeEngine]:
        """The one that is kept, or one for this run alone."""
        if prepared.engine is not None:
            yield prepared.engine
            return
        engine = NativeEngine(prepared.home, prepared.bound.protected)
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
            atexit.unregister(self._close_at_exit)

    def _close_at_exit(self) -> None:
        # A session that could not be ended is found to be over by whoever looks.
        with suppress(ConsentryError):
            self.close()


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
