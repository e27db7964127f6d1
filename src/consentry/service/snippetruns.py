"""Carries out one snippet: decided by its own line, permitted, confined, recorded.

The order is that of every run: the decision and the permit are durable before anything starts, and
the record is written whatever happened. What a snippet wrote where it may is taken over as for any run.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

from consentry.base.canonical import digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass, field, replace
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.egress.ports import proxy_variables
from consentry.enforce.engines.native import Io
from consentry.enforce.engines.nativecode import SNIPPET, CodePlan, NativeCode, subject_of_code
from consentry.enforce.interrupts import Uninterrupted
from consentry.enforce.native.runtime import ENVIRONMENT
from consentry.enforce.native.snippets import MOST_DEPTH, SnippetError, is_shallow
from consentry.enforce.programfiles import Started
from consentry.record.auditfields import Trigger
from consentry.service.binding import (
    BoundWish,
    Wish,
    as_profile_says,
    folder_in,
    granted_pattern,
    ground_surface,
    protected_in,
    require_no_trust,
    with_network,
    with_secrets,
    workspace_here,
)
from consentry.service.enginechoice import require_native
from consentry.service.keepsettings import keeping_of
from consentry.service.keptruns import Place
from consentry.service.ledgers import state_folder
from consentry.service.programsearch import require_text
from consentry.service.recovering import recover_here, tidying_of
from consentry.service.refusals import (
    Asked,
    journal_of_terminal,
    refusals_recorded,
)
from consentry.service.rundecision import RunDecision, by_line_of_code
from consentry.service.runledger import Run, RunLedger
from consentry.service.runningruns import RunningRuns, RunNote
from consentry.service.runrecord import RunFacts, named_path
from consentry.service.surroundings import Surroundings, own_home
from consentry.service.takeover import AT_ITS_END, Takeover, TakeoverTerms
from consentry.store.journal import Journal
from consentry.surface.lattice import Surface

MOST_SOURCE: Final = 1 << 20
MOST_ARGUMENTS: Final = 64 << 10
"""Bytes of all arguments together, as JSON; they are recorded, and data belongs into a file."""

ENDING: Final = ".py"

_MODULE: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class CodeWish(Wish):
    """A snippet and what is asked for it; `name` is how it is called in records."""

    source: bytes = field(repr=False)
    name: str
    is_file: bool = False
    preload: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def shown_name(self) -> str:
        """What it is called where it tells of its own mistakes."""
        return self.name if self.is_file else f"<{self.name.removesuffix(ENDING)}>"


@dataclass(frozen=True, slots=True)
class CodeRun(Run):
    """A snippet's run that is over and recorded, and what it gave back in its own words."""

    result: object
    error: SnippetError | None


def bind_code(wish: CodeWish, workspace: Path, around: Surroundings) -> BoundWish:
    """The confinement that is asked for; raises before anything is recorded or started."""
    _require_givable(wish)
    cwd = around.cwd or workspace
    protected = protected_in(wish.read, workspace, cwd, around)
    path = _path_of(wish, cwd)
    named = [granted_pattern(each, workspace, cwd, may_be_new=False) for each in wish.read]
    program = Program(path=path, words=words_of_code(wish), folder=folder_in(workspace, cwd))
    ground = ground_surface(wish, workspace)
    surface = with_network(Surface.of(read=named) | ground, wish.network)
    confinement = Confinement(
        surface=surface,
        workspace=workspace,
        program=program,
        environment=ENVIRONMENT | proxy_variables(surface.net_access),
        limits=wish.limits,
    )
    bound = BoundWish(confinement, Started(path, (), ()), wish.profile_word, protected)
    if wish.profile is not None:
        require_native(wish.profile.engines, "snippets")
    return with_secrets(as_profile_says(bound, wish.profile, around), wish, around)


def _require_givable(wish: CodeWish) -> None:
    require_no_trust(wish, "name what the snippet needs with --read")
    for module in wish.preload:
        if _MODULE.fullmatch(module) is None:
            raise UsageProblem(Code.USAGE, f"`{module}` is not the name of a module")
    require_snippet(wish)


def require_snippet(wish: CodeWish) -> None:
    """Raises unless the snippet and its variables can be run and recorded."""
    if len(wish.source) > MOST_SOURCE:
        raise UsageProblem(Code.USAGE, f"a snippet has at most {MOST_SOURCE} bytes")
    for name in wish.arguments:
        if not name.isidentifier():
            raise UsageProblem(Code.USAGE, f"`{name}` is not the name of a variable")


def words_of_code(wish: CodeWish) -> tuple[str, ...]:
    """The line as it is recorded."""
    words = [wish.name]
    for module in wish.preload:
        words += ["--preload", module]
    size = 0
    for name, value in wish.arguments.items():
        spelled = _as_json(name, value)
        size += len(spelled)
        words += ["--arg", f"{name}={spelled}"]
    if size > MOST_ARGUMENTS:
        message = f"the arguments have more than {MOST_ARGUMENTS} bytes in all"
        help_line = "put the data into a file of the workspace, which the snippet can read"
        raise UsageProblem(Code.USAGE, message, help_line=help_line)
    return tuple(words)


def _as_json(name: str, value: object) -> str:
    """As ASCII, so that it can be recorded whatever is in it."""
    try:
        spelled = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        message = f"the argument `{name}` is no JSON value: {problem}"
        raise UsageProblem(Code.USAGE, message) from None
    if not is_shallow(value, MOST_DEPTH):
        raise UsageProblem(Code.USAGE, f"the argument `{name}` is nested too deeply")
    return spelled


def _path_of(wish: CodeWish, cwd: Path) -> Path:
    """Where it came from; what came from nowhere has a name all the same."""
    name = require_text(wish.name)
    return Path(os.path.normpath(cwd / name)) if wish.is_file else Path(name)


@dataclass(frozen=True, slots=True)
class CodeRunner:
    """Runs snippets with one engine and one journal; threads may share it."""

    engine: NativeCode
    journal: Journal
    state: Path
    home: Path | None

    def run(
        self,
        wish: CodeWish,
        bound: BoundWish,
        plan: CodePlan,
        io: Io,
        trigger: Trigger = Trigger.USER_COMMAND,
        *,
        decision: RunDecision | None = None,
        terms: TakeoverTerms = AT_ITS_END,
    ) -> CodeRun:
        """One run; raises when it could not be started or recorded.

        Without a `decision` the line itself is one. What it wrote is dealt with as `terms` say.
        """
        ledger, clock = RunLedger.of(self.journal, self.state), self.journal.clock
        compiled = plan.snippet.plan
        takeover = Takeover.prepared(bound, compiled, self.home) if compiled.layered else None
        digest = digest_bytes(wish.source)
        interpreter = self.engine.interpreter
        digests = {SNIPPET: digest, str(interpreter): ledger.programs.digest_of(interpreter)}
        with Uninterrupted(), ExitStack() as noted:
            decided = decision or by_line_of_code(subject_of_code(bound.confinement))
            note = self._noting(bound.confinement, trigger, io, noted)
            permit = ledger.permitted(bound, decided, digests, note)
            known = {str(bound.started.program): digest, **digests}
            facts = RunFacts(bound, decided, permit, known, trigger, started_at=clock.now())
            # What was recorded is JSON, and so is what the snippet gets.
            arguments = json.loads(json.dumps(dict(wish.arguments)))
            with ledger.failures_recorded([facts]):
                done = self.engine.run_code(
                    plan,
                    permit,
                    wish.source,
                    arguments,
                    io,
                    name=wish.shown_name,
                    subject=decided.subject,
                )
            facts = replace(facts, ended_at=clock.now(), outcome=done.outcome)
            if takeover is not None:
                terms = replace(terms, has_result=lambda _: done.error is None)
                impact = takeover.after(done.outcome, permit.permit_id, self.state, terms)
                facts = replace(facts, impact=impact)
            run = ledger.recorded(facts, done.outcome)
        return CodeRun(run.audit_id, facts, run.outcome, run.entry, done.result, done.error)

    def _noting(
        self, wanted: Confinement, trigger: Trigger, io: Io, noted: ExitStack
    ) -> Callable[[str], None]:
        """Notes a run just before its decision is recorded, until it is on record itself.

        So the next start puts it on record, if this process is killed.
        """
        places = (named_path(str(each)) for each in (wanted.workspace, wanted.program.folder))
        note = RunNote(None, trigger.value, *places)

        def noting(decision_id: str) -> None:
            if io.begins is not None:
                io.begins(decision_id)
            noted.enter_context(RunningRuns(self.state).noted(decision_id, note))

        return noting


def asked_for_code(wish: CodeWish, trigger: Trigger) -> Asked:
    """The wish, as a refusal of it is recorded."""
    return Asked((wish.name,), wish.profile_word, trigger, kind=SNIPPET)


def carry_out_code(
    wish: CodeWish, around: Surroundings, io: Io, *, workspace: str | None = None
) -> CodeRun:
    """One snippet from beginning to end; what is wrong is said before anything is decided."""
    home = own_home(around).path
    with ExitStack() as held:
        with refusals_recorded(
            asked_for_code(wish, Trigger.USER_COMMAND), lambda: journal_of_terminal(around)
        ):
            place_of_work = workspace_here(around, workspace)
            state = state_folder(around)
            bound = bind_code(wish, place_of_work, around)
            engine = held.enter_context(closing(NativeCode(home)))
            plan = engine.compile(bound.confinement, bound.protected, wish.preload)
        journal = held.enter_context(journal_of_terminal(around))
        place = Place(journal, state, keeping_of(around))
        recover_here(place)
        terms = TakeoverTerms(tidying=tidying_of(place))
        return CodeRunner(engine, journal, state, home).run(wish, bound, plan, io, terms=terms)
