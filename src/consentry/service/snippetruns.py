"""Carries out one snippet: decided by its own line, permitted, confined, recorded.

The order is that of every run: the decision and the permit are durable before anything starts, and
the record is written whatever happened. What a snippet wrote where it may is taken over as for any run.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from consentry.base.canonical import Json, digest_bytes
from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.enforce.commitrecover import recover
from consentry.enforce.confinement import Confinement, Limits, Program
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.native import Io
from consentry.enforce.engines.nativecode import SNIPPET, CodePlan, NativeCode, subject_of_code
from consentry.enforce.hashcache import HashCache
from consentry.enforce.native.notbuilt import LostSight
from consentry.enforce.native.runtime import ENVIRONMENT
from consentry.enforce.native.snippets import MOST_DEPTH, SnippetError, is_shallow
from consentry.enforce.programfiles import Started
from consentry.record.auditfields import ExecutionStatus, Trigger
from consentry.service.commandline import (
    OWN_TMP,
    BoundWish,
    as_profile_says,
    granted_pattern,
    named_place,
)
from consentry.service.ledgers import ledger_place
from consentry.service.places import find_workspace
from consentry.service.profiles import NamedProfile, require_places
from consentry.service.programsearch import is_protected, require_text
from consentry.service.protection import protected_here
from consentry.service.refusals import (
    Asked,
    journal_of_terminal,
    profile_word,
    refusals_recorded,
)
from consentry.service.runledger import RunLedger, unrecorded
from consentry.service.runrecord import RunFacts
from consentry.service.runs import HASHES
from consentry.service.sessions import journal_here
from consentry.service.statedir import find_state
from consentry.service.surroundings import Surroundings, own_home
from consentry.service.takeover import Takeover
from consentry.store.journal import Journal
from consentry.surface.lattice import Surface
from consentry.surface.permission_sets import PermissionSet, definition

MOST_SOURCE: Final = 1 << 20
MOST_ARGUMENTS: Final = 64 << 10
"""Bytes of all arguments together, as JSON; they are recorded, and data belongs into a file."""

ENDING: Final = ".py"

_MODULE: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class CodeWish:
    """A snippet and what is asked for it; `name` is how it is called in records."""

    source: bytes = field(repr=False)
    name: str
    is_file: bool = False
    permission_set: PermissionSet | None = None
    profile: NamedProfile | None = None
    read: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    limits: Limits = field(default_factory=Limits)

    @property
    def shown_name(self) -> str:
        """What it is called where it tells of its own mistakes."""
        return self.name if self.is_file else f"<{self.name.removesuffix(ENDING)}>"


@dataclass(frozen=True, slots=True)
class CodeRun:
    """A snippet's run that is over and recorded, and what it gave back in its own words."""

    audit_id: str
    facts: RunFacts
    outcome: Outcome
    entry: dict[str, Json]
    result: object
    error: SnippetError | None

    @property
    def status(self) -> ExecutionStatus:
        """How it ended, in the words of the audit entry."""
        return self.facts.status


def bind_code(wish: CodeWish, workspace: Path, around: Surroundings) -> BoundWish:
    """The confinement that is asked for; raises before anything is recorded or started."""
    _require_givable(wish)
    cwd = around.cwd or workspace
    named = [named_place(each, cwd) for each in wish.read]
    protected = protected_here(around, workspace, *named)
    if is_protected(workspace, protected):
        raise Refused(Code.PROTECTED_ROOT, f"the workspace `{workspace}` is never granted")
    path = _path_of(wish, cwd)
    surface = Surface.of(
        read=[granted_pattern(each, workspace, cwd, may_be_new=False) for each in wish.read]
    )
    if wish.permission_set is not None:
        surface |= definition(wish.permission_set).surface
    elif wish.profile is not None:
        surface |= wish.profile.surface | Surface.of(write=[OWN_TMP])
    else:
        surface |= Surface.of(read=["./"], write=[OWN_TMP])
    folder = cwd if cwd.is_relative_to(workspace) else workspace
    confinement = Confinement(
        surface=surface,
        workspace=workspace,
        program=Program(path=path, words=words_of_code(wish), folder=folder),
        environment=ENVIRONMENT,
        limits=wish.limits,
    )
    started = Started(path, (), ())
    if wish.profile is None:
        name = "command line" if wish.permission_set is None else f"set:{wish.permission_set}"
        return BoundWish(confinement, started, name, protected)
    require_places(wish.profile, workspace, own_home(around).path)
    profile = wish.profile.profile
    return BoundWish(
        as_profile_says(confinement, profile),
        started,
        f"profile:{profile.name}",
        protected,
        tuple(entry.root for entry in profile.filesystem.read_write),
    )


def _require_givable(wish: CodeWish) -> None:
    if wish.permission_set is PermissionSet.TRUSTED:
        raise Refused(
            Code.NOT_ENFORCEABLE,
            "`trusted` is never given by a command line",
            help_line="name what the snippet needs with --read",
        )
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


class CodeRunner:
    """Runs snippets with one engine and one journal; threads may share it."""

    def __init__(
        self, engine: NativeCode, journal: Journal, state: Path, home: Path | None
    ) -> None:
        self._engine = engine
        self._journal = journal
        self._hashes = HashCache(state / HASHES)
        self._ledger = RunLedger(journal, self._hashes)
        self._state = state
        self._home = home

    def run(
        self,
        wish: CodeWish,
        bound: BoundWish,
        plan: CodePlan,
        io: Io,
        trigger: Trigger = Trigger.USER_COMMAND,
    ) -> CodeRun:
        """One run; raises when it could not be started or recorded."""
        compiled = plan.snippet.plan
        takeover = Takeover.prepared(bound, compiled, self._home) if compiled.layered else None
        digest = digest_bytes(wish.source)
        interpreter = self._engine.interpreter
        digests = {SNIPPET: digest, str(interpreter): self._hashes.digest_of(interpreter)}
        permit = self._ledger.permitted(bound, subject_of_code(bound.confinement), digests)
        known = {str(bound.started.program): digest, **digests}
        facts = RunFacts(bound, permit, known, trigger)
        clock = self._journal.clock
        started = clock.now()
        # What was recorded is JSON, and so is what the snippet gets.
        arguments = json.loads(json.dumps(dict(wish.arguments)))
        try:
            done = self._engine.run_code(
                plan, permit, wish.source, arguments, io, name=wish.shown_name
            )
        except ConsentryError as problem:
            if isinstance(problem, LostSight):
                facts = replace(facts, started_at=started, ended_at=clock.now())
            self._ledger.record(replace(facts, problem=(problem.code.value, problem.message)))
            raise
        except BaseException as problem:
            said = (Code.INTERRUPTED.value, f"ended by {type(problem).__name__}")
            ended = replace(facts, started_at=started, ended_at=clock.now(), problem=said)
            self._ledger.record(ended)
            raise
        facts = replace(facts, started_at=started, ended_at=clock.now(), outcome=done.outcome)
        if takeover is not None:
            impact = takeover.after(done.outcome, permit.permit_id, self._state)
            facts = replace(facts, impact=impact)
        try:
            audit_id, entry = self._ledger.record(facts)
        except Exception as problem:  # whatever it was, the person must know that it ran
            raise unrecorded(facts, problem) from problem
        return CodeRun(audit_id, facts, done.outcome, entry, done.result, done.error)


def asked_for_code(wish: CodeWish, trigger: Trigger) -> Asked:
    """The wish, as a refusal of it is recorded."""
    named = None if wish.profile is None else wish.profile.profile.name
    return Asked((wish.name,), profile_word(wish.permission_set, named), trigger, kind=SNIPPET)


def carry_out_code(
    wish: CodeWish, around: Surroundings, io: Io, *, workspace: str | None = None
) -> CodeRun:
    """One snippet from beginning to end; what is wrong is said before anything is decided."""
    asked = asked_for_code(wish, Trigger.USER_COMMAND)
    with refusals_recorded(asked, lambda: journal_of_terminal(around)):
        bound = bound_code_here(wish, around, workspace)
    engine = NativeCode(own_home(around).path)
    try:
        with refusals_recorded(asked, lambda: journal_of_terminal(around)):
            plan = engine.compile(bound.confinement, bound.protected, wish.preload)
        clock = SystemClock()
        journal = journal_here(around, clock, Uuid7Ids(clock))
        try:
            state = ledger_place(around).folder
            recover(state)
            runner = CodeRunner(engine, journal, state, own_home(around).path)
            return runner.run(wish, bound, plan, io)
        finally:
            journal.ledger.close()
    finally:
        engine.close()


def bound_code_here(wish: CodeWish, around: Surroundings, workspace: str | None) -> BoundWish:
    """The wish bound to the workspace that is named or found; nothing is recorded or started."""
    found = find_workspace(around, workspace)
    find_state(around, found)
    return bind_code(wish, found.path, around)
