"""One attempt of code in one permission set: bound, permitted, confined, recorded, and what it came to.

The same for a saved capability and for the code of a task. Python runs as a snippet on the native
engine, TypeScript and JavaScript by Deno inside the native box. What an attempt wrote is taken over
only when it succeeded. An attempt asks nobody and changes no stored set.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Self, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, replace
from consentry.decide.capabilities import Language
from consentry.declare.profile import EngineName
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.ground import EngineGround, leading
from consentry.enforce.engines.interface import Engine
from consentry.enforce.engines.nativecode import NativeCode
from consentry.enforce.engines.registry import made_engine
from consentry.enforce.native.snippets import NO_RESULT
from consentry.enforce.native.streamends import Io
from consentry.record.auditfields import Trigger
from consentry.service.attemptfacts import denial_of_deno, denial_on_native, done_so_far
from consentry.service.binding import BoundWish, workspace_here
from consentry.service.capabilitybinding import bind_python, bind_script
from consentry.service.codeinset import Attempt, CodeInSet, OpenIo
from consentry.service.enginechoice import EngineDesk, EngineWish, choose_engine
from consentry.service.keepsettings import keeping_of
from consentry.service.keptruns import Place
from consentry.service.ledgers import state_folder
from consentry.service.profiles import profile_word
from consentry.service.recovering import recover_here, tidying_of
from consentry.service.refusals import Asked, refusals_recorded
from consentry.service.resultline import result_apart, said_at_the_end
from consentry.service.rundecision import RunDecision
from consentry.service.runs import Runner
from consentry.service.snippetruns import CodeRunner
from consentry.service.surroundings import Surroundings, own_home
from consentry.service.takeover import TakeoverTerms
from consentry.store.journal import Journal
from consentry.surface.permission_sets import PermissionSet

if TYPE_CHECKING:
    from consentry.service.holding import Holding

_MOST_TRIES: Final = 4
_TREE_CHANGED: Final = (Code.ENGINE_FAILED, Code.FILESYSTEM_RACE)

__all__ = ["Attempt", "CodeInSet", "CodePlace", "OpenIo", "run_in_set"]


class CodePlace:
    """The ledger, the workspace and the engines that attempts share; to be closed.

    Threads may share it. `holding` is how what an attempt that holds is refused is asked about;
    without it, whoever answers looks by themselves.
    """

    def __init__(
        self,
        journal: Journal,
        around: Surroundings,
        *,
        workspace: str | None = None,
        holding: "Holding | None" = None,
    ) -> None:
        self.journal = journal
        self.around = around
        self.workspace = workspace
        self.holding = holding
        self.home = own_home(around).path
        self._one_at_a_time = Lock()
        self._python: NativeCode | None = None
        self._engines: dict[tuple[str, EngineGround], Engine] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def effects(self, journal: Journal) -> Place:
        """Where the effects of runs are kept."""
        return Place(journal, state_folder(self.around), keeping_of(self.around))

    def python(self) -> NativeCode:
        """The engine of snippets."""
        with self._one_at_a_time:
            if self._python is None:
                self._python = NativeCode(self.home)
            return self._python

    def engine(self, name: str, ground: EngineGround) -> Engine:
        """The engine of that name for this ground."""
        with self._one_at_a_time:
            if (name, ground) not in self._engines:
                self._engines[name, ground] = made_engine(name, ground)
            return self._engines[name, ground]

    def close(self) -> None:
        """Ends the engines that were kept."""
        with self._one_at_a_time:
            python, self._python = self._python, None
            engines, self._engines = self._engines, {}
        if python is not None:
            python.close()
        for each in engines.values():
            each.close()


def run_in_set(
    place: CodePlace,
    code: CodeInSet,
    decision: RunDecision,
    open_io: OpenIo,
    *,
    trigger: Trigger = Trigger.USER_COMMAND,
) -> Attempt:
    """One attempt; raises when it could not be started or recorded.

    `decision` is made by `rundecision.by_permission_set`; its execution is the workflow that the
    record names. With `trusted` the host's tree is bound name by name, and somebody may have taken
    one away meanwhile: what did not start for such a reason is bound anew, a few times.
    """
    tries = _MOST_TRIES if code.permission_set is PermissionSet.TRUSTED else 1
    for left in reversed(range(tries)):
        try:
            return _tried(place, code, decision, open_io, trigger)
        except Refused as problem:
            if left == 0 or problem.code not in _TREE_CHANGED:
                raise
    raise AssertionError("unreachable: the last try returns or raises")


def _tried(
    place: CodePlace, code: CodeInSet, decision: RunDecision, open_io: OpenIo, trigger: Trigger
) -> Attempt:
    journal = _in_execution(place.journal, decision)
    asked = Asked((code.name,), profile_word(code.permission_set), trigger, decision=decision)
    with refusals_recorded(asked, lambda: nullcontext(journal)):
        workspace = workspace_here(place.around, place.workspace)
        effects = place.effects(journal)
        start = (
            _python(place, code, workspace) if _is_python(code) else _deno(place, code, workspace)
        )
    recover_here(effects)
    terms = TakeoverTerms(tidying=tidying_of(effects), only_on_success=True)
    with open_io(code.name) as io:
        return start(_Order(journal, effects.state, decision, terms, trigger, io))


@dataclass(frozen=True, slots=True)
class _Order:
    """What an attempt is started with, once its confinement is compiled."""

    journal: Journal
    state: Path
    decision: RunDecision
    terms: TakeoverTerms
    trigger: Trigger
    io: Io


_Start: TypeAlias = Callable[[_Order], Attempt]


def _is_python(code: CodeInSet) -> bool:
    return code.language is Language.PYTHON


def _in_execution(journal: Journal, decision: RunDecision) -> Journal:
    in_set = decision.in_set
    if in_set is None:
        return journal
    return replace(journal, context=replace(journal.context, workflow_id=in_set.execution_id))


def _python(place: CodePlace, code: CodeInSet, workspace: Path) -> _Start:
    wish, bound = bind_python(code, workspace, place.around)
    engine = place.python()
    plan = engine.compile(bound.confinement, bound.protected)

    def start(order: _Order) -> Attempt:
        runner = CodeRunner(engine, order.journal, order.state, place.home)
        with ExitStack() as held:
            if code.holds:
                held.enter_context(_asked_meanwhile(place, order, bound))
            run = runner.run(
                wish,
                bound,
                plan,
                order.io,
                order.trigger,
                decision=order.decision,
                terms=order.terms,
            )
        denial = denial_on_native(run, run.error)
        return Attempt(run, code, run.result, run.error, denial, done_so_far(run))

    return start


def _asked_meanwhile(
    place: CodePlace, order: _Order, bound: BoundWish
) -> AbstractContextManager[None]:
    """Asks about what is refused, while it waits.

    What would reach the host at once is refused: a failed attempt is discarded, and that could not be.
    """
    from consentry.service.holding import (  # noqa: PLC0415 - few runs ask
        HeldRun,
        Holding,
        held_questions,
    )
    from consentry.service.ownsettings import own_settings  # noqa: PLC0415 - as above

    run = HeldRun.of(bound.confinement, order.decision, allows_direct=False)
    settings = own_settings(place.around).approvals
    return held_questions(order.journal, run, place.holding or Holding(), order.io, settings)


def _deno(place: CodePlace, code: CodeInSet, workspace: Path) -> _Start:
    around = place.around
    bound_script = bind_script(code, workspace, around)
    bound, script = bound_script.bound, bound_script.script
    path, state = around.environ.get("PATH", ""), state_folder(around)
    ground = EngineGround(place.home, bound.protected, path, state, environ=leading(around.environ))
    desk = EngineDesk(lambda name: place.engine(name, ground))
    chosen = choose_engine(EngineWish(EngineName.DENO), bound.confinement, desk)

    def start(order: _Order) -> Attempt:
        with result_apart(script.mark, order.io) as relay:

            def has_result(outcome: Outcome) -> bool:
                return relay.answer(outcome.stdout)[1] is None

            run = Runner(chosen.engine, order.journal, order.state, place.home).run(
                bound,
                chosen.plan,
                order.io,
                decision=order.decision,
                terms=replace(order.terms, has_result=has_result),
                trigger=order.trigger,
                given={script.path: script.content},
            )
            result, error = relay.answer(run.outcome.stdout)
        if error is not None and error.type == NO_RESULT:
            error = said_at_the_end(run.outcome.stderr) or error
        run = replace(run, outcome=_without_result(run.outcome, relay.kept))
        return Attempt(run, code, result, error, denial_of_deno(run, error), done_so_far(run))

    return start


def _without_result(outcome: Outcome, kept: bytes) -> Outcome:
    """The same, as if what says the result had not been printed."""
    ours = len(outcome.stdout) - len(kept)
    return replace(outcome, stdout=kept, output_bytes=outcome.output_bytes - ours)
