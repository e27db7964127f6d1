"""The native engine for Python snippets: the same controls, in copies of a warm interpreter.

`compile` binds a confinement to this host; `run_code` runs a snippet whose bytes the permit names.
What a snippet gives back is its own word; everything else is told by the kernel and the observer.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final

from consentry.base.canonical import digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, replace
from consentry.decide.permit import Permit
from consentry.enforce.cgroups import sweep
from consentry.enforce.confinement import Confinement
from consentry.enforce.egress.report import Reached
from consentry.enforce.engine import Control, Held, Lacking, NotEnforceable, Outcome
from consentry.enforce.engines.boxholds import BoxHolds
from consentry.enforce.engines.boxnetwork import BoxNetwork, KeptProxy
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.engines.othersystems import require_linux
from consentry.enforce.facts import HostView
from consentry.enforce.groupstock import GroupStock
from consentry.enforce.holding import HeldLimits
from consentry.enforce.interrupts import Uninterrupted
from consentry.enforce.limits import LimitMeans, LimitPlan
from consentry.enforce.native import calls, nonamespaces
from consentry.enforce.native.boxcontrols import held_in
from consentry.enforce.native.ending import (
    LIMITED,
    LimitWatch,
    ending_of,
    held_limits,
    require_built,
    usage_of,
)
from consentry.enforce.native.findings import findings_of, merged
from consentry.enforce.native.notbuilt import remedy_for
from consentry.enforce.native.otherids import FIRST, ids_behind_root
from consentry.enforce.native.parent import NativeParent
from consentry.enforce.native.planner import ENGINE, Host, require_rounding
from consentry.enforce.native.planparts import hidden_places
from consentry.enforce.native.snippetplan import SnippetPlan, compile_snippet
from consentry.enforce.native.snippets import (
    NAME,
    WORKER_GONE,
    SnippetError,
    SnippetWorkers,
    StartedSnippet,
)
from consentry.enforce.native.supervisor import Bounds, Supervised, Supervisor
from consentry.enforce.roots import bound_roots
from consentry.enforce.streams import Pipe
from consentry.enforce.violations import Operation, PermissionDenied, Truth
from consentry.surface.dimensions import Level
from consentry.surface.modes import Denials, LayerPlace, Reads, View, Writes
from consentry.surface.protected import ProtectedRoots

SNIPPET: Final = "snippet"
"""The name under which a permit has the digest of a snippet's bytes."""

_KIB: Final = 1024
_COPIES_AHEAD: Final = 2
_MOST_ATTEMPTS: Final = 3
# The options that would allow these belong to programs; no snippet can be given them.
_NEVER_ALLOWED: Final = (Operation.WRITE, Operation.RUN)


@dataclass(frozen=True, slots=True)
class CodePlan:
    """A confinement as it was compiled for this host, and the modules that are there from the start."""

    wanted: Confinement
    preload: tuple[str, ...]
    snippet: SnippetPlan
    limits: LimitPlan
    protected: ProtectedRoots


@dataclass(frozen=True, slots=True)
class CodeOutcome:
    """What the engine reports, and what the snippet said: a JSON value, or an error of its own."""

    outcome: Outcome
    result: object
    error: SnippetError | None


class NativeCode:
    """One launcher and its workers, kept while this object lives; threads may share it."""

    name = ENGINE

    def __init__(self, home: Path | None) -> None:
        require_linux("snippets")
        # The file behind the interpreter that this process, the launcher and its workers run in.
        self.interpreter = Path(sys.executable).resolve()
        self._home = home
        self._view = HostView(uid=os.getuid())
        self._means = LimitMeans.of(self._view)
        self._behind_root = ids_behind_root(self._view) if self._view.uid == 0 else FIRST
        self._parent: NativeParent | None = None
        self._workers: SnippetWorkers | None = None
        self._stock: GroupStock | None = None
        self._proxy = KeptProxy()
        self._one_at_a_time = Lock()
        self._one_look = Lock()
        self._is_settled = False
        self._refused: nonamespaces.NoNamespaces | None = None

    def compile(
        self, wanted: Confinement, protected: ProtectedRoots, preload: Sequence[str] = ()
    ) -> CodePlan:
        """Binds it to this host; raises `NotEnforceable` with what is not built or not there."""
        host = Host(
            uid=os.getuid(),
            gid=os.getgid(),
            machine=calls.MACHINE,
            landlock_abi=calls.landlock_abi(),
            home=self._home,
            protected=protected,
            behind_root=self._behind_root,
        )
        limits = LimitPlan.of(wanted.limits, self._means, writes=wanted.writes)
        lacking = [
            *self._without_namespaces(host),
            *self._lacking(wanted, host),
            *(Lacking(LIMITED[each.control], each.why) for each in limits.unheld),
        ]
        if lacking:
            raise NotEnforceable(self.name, lacking)
        snippet = compile_snippet(wanted, host)
        require_rounding(self.name, wanted, snippet.plan)
        return CodePlan(wanted, tuple(preload), snippet, limits, protected)

    def is_current(self, plan: CodePlan) -> bool:
        """Whether what lies in the granted roots and is denied is still what the plan hides."""
        compiled, wanted = plan.snippet.plan, plan.wanted
        if compiled.grants.picked:
            return False  # what a pattern matches has to be found anew
        shown = [*(layer.root for layer in compiled.layered), *compiled.readable]
        found = hidden_places(compiled.denied, shown, wanted.workspace, self._home)
        return compiled.hidden == tuple(found)

    def _without_namespaces(self, host: Host) -> Iterator[Lacking]:
        """A worker is copied into namespaces; where there are none, nothing holds its copies."""
        with self._one_look:
            if not self._is_settled:
                engine = NativeEngine(self._home, host.protected)
                try:
                    self._refused = engine.without_namespaces()
                finally:
                    engine.close()
                self._is_settled = True
        if self._refused is not None:
            why = f"a snippet runs in a copy of a worker in namespaces, and {self._refused.why}"
            remedy = f"consentry exec --view visible -- python3 - < FILE, or {self._refused.remedy}"
            yield Lacking(Control.PROCESSES_APART, why, remedy)

    def _lacking(self, wanted: Confinement, host: Host) -> list[Lacking]:
        found = []
        surface = wanted.surface
        if host.landlock_abi == 0:
            remedy = remedy_for("landlock", 0, self._view)
            found.append(Lacking(Control.WRITES, "this kernel has no Landlock", remedy))
        if surface.proc_exec.level is not Level.NONE:
            found.append(Lacking(Control.PROGRAMS, "a snippet starts no program"))
        if Path("/") in (
            root.path
            for root in bound_roots(
                surface.fs_read_roots, wanted.workspace, host.home, host.protected
            )
        ):
            found.append(Lacking(Control.READS, "a snippet is not shown the whole file system"))
        if (wanted.view, wanted.writes, wanted.reads) != (
            View.PRIVATE,
            Writes.LAYER,
            Reads.OBSERVED,
        ):
            found.append(Lacking(Control.READS, "snippets have the usual view, writes and reads"))
        if wanted.layer is LayerPlace.DISK:
            why = "what a snippet writes is kept in memory"
            found.append(Lacking(Control.LAYER, why, "leave out `layer: disk`"))
        if wanted.denials is Denials.ATTESTED:
            why = "what is refused to a snippet is observed, and never attested"
            found.append(Lacking(Control.DENIALS, why, "leave out `denials: attested`"))
        return found

    def run_code(
        self,
        plan: CodePlan,
        permit: Permit,
        source: bytes,
        arguments: Mapping[str, Any],
        io: Io,
        *,
        name: str = NAME,
        subject: str | None = None,
    ) -> CodeOutcome:
        """Runs it to its end: the permit spent just before, and for these very bytes.

        `name` is what the snippet is called where it tells of its own mistakes, `subject` what the
        permit is for where that is not the snippet's name.
        """
        require_code_permitted(permit, plan.wanted, source, subject)
        code = _Code(name, source, arguments)
        with Uninterrupted():
            workers, stock = self._kept()
            # Where a worker was gone before the snippet was there, another one is made for it.
            for _ in range(_MOST_ATTEMPTS):
                held = HeldLimits(plan.limits, permit.permit_id, stock=stock)
                holds = BoxHolds(io.holds, plan.wanted, is_snippet=True)
                network = BoxNetwork(self._proxy, plan.wanted, holds.desk)
                try:
                    done = _attempt(workers, plan, code, io, held, stock, network, holds)
                finally:
                    network.close()
                    holds.close()
                    held.close()
                if done is not None:
                    return done
        raise Refused(Code.ENGINE_FAILED, "its workers ended before they could run it")

    def _kept(self) -> tuple[SnippetWorkers, GroupStock]:
        with self._one_at_a_time:
            if self._parent is not None and self._parent.is_gone:
                self._end()
            if self._workers is None or self._stock is None:
                sweep(self._means.places)
                self._stock = GroupStock(self._means.places, _COPIES_AHEAD)
                self._parent = NativeParent()
                self._workers = SnippetWorkers(self._parent)
            return self._workers, self._stock

    def close(self) -> None:
        """Ends the launcher, and every worker with it."""
        with Uninterrupted(), self._one_at_a_time:
            self._end()

    def _end(self) -> None:
        parent, self._parent, self._workers = self._parent, None, None
        stock, self._stock = self._stock, None
        if parent is not None:
            parent.close()
        if stock is not None:
            stock.close()
        self._proxy.close()


@dataclass(frozen=True, slots=True)
class _Code:
    name: str
    source: bytes
    arguments: Mapping[str, Any]


def _attempt(
    workers: SnippetWorkers,
    plan: CodePlan,
    code: _Code,
    io: Io,
    held: HeldLimits,
    stock: GroupStock,
    network: BoxNetwork,
    holds: BoxHolds,
) -> CodeOutcome | None:
    """The run, or None where there was none because its worker was gone."""
    pipes = (Pipe(io.stdout, io.keeps), Pipe(io.stderr, io.keeps))
    try:
        started = workers.start(
            code.source,
            code.arguments,
            plan.snippet,
            pipes,
            name=code.name,
            preload=plan.preload,
            limits=held.told(),
            holds=lambda files: holds.told(plan.snippet.plan, files, plan.protected),
        )
        holds.start()
    except BaseException:
        for pipe in pipes:
            pipe.close()
        raise
    watch = LimitWatch(started.running, held, counts_first=True)
    limits = plan.wanted.limits
    bounds = Bounds(limits.wall_seconds, limits.output_bytes, watch.exceeded, watch.pause)
    io.supervisor = Supervisor(started.running, bounds, started.pipes, curtain=io.curtain)
    try:
        # Until it is served, whoever asks waits; nothing else leads out of the box.
        network.open(started.running)
        stock.restock()  # while it runs
        supervised = io.supervisor.stay()
    except BaseException:
        io.supervisor.give_up()
        raise
    finally:
        if started.running.pid is not None:
            held.started_in(started.running.group)
    if supervised.ended.problem is not None:
        workers.forget(plan.preload, plan.snippet)
        if supervised.ended.problem == WORKER_GONE:
            return None
    done = _outcome(plan, supervised, started, held, network.finish())
    return replace(done, outcome=holds.added_to(done.outcome))


def require_code_permitted(
    permit: Permit, wanted: Confinement, source: bytes, subject: str | None = None
) -> None:
    """Raises unless the permit was spent, and for this snippet, these words and these bytes."""
    order = permit.order
    why = None
    if permit.spent_at is None:
        why = "was not spent"
    elif order.subject != (subject or subject_of_code(wanted)):
        why = f"is for `{order.subject}`"
    elif order.arguments != wanted.program.words:
        why = "is for other arguments"
    elif not wanted.surface <= order.surface:
        why = "is for a smaller surface"
    elif order.digests.get(SNIPPET) != digest_bytes(source):
        why = "does not name these bytes"
    if why is not None:
        message = f"`{permit.permit_id}` {why}, so nothing was started"
        raise Refused(Code.PERMIT_REFUSED, message)


def subject_of_code(wanted: Confinement) -> str:
    """What is run, by the snippet's name."""
    return f"{SNIPPET}:{wanted.program.path.name}"


def _outcome(
    plan: CodePlan,
    supervised: Supervised,
    started: StartedSnippet,
    held: HeldLimits,
    reached: Reached,
) -> CodeOutcome:
    ended = supervised.ended
    require_built(ended)
    seconds = ended.user_seconds + ended.system_seconds
    limited = held.outcome(ended.status, seconds, ended.peak_kib * _KIB)
    limit = supervised.limit
    if limit is None and limited.exceeded is not None:
        limit = limited.exceeded.control.value
    found = findings_of(ended.notes, plan.snippet.plan, plan.protected)
    found.add_reached(reached)
    code = ended.status
    out, err = (bytes(pipe.kept) for pipe in started.pipes[:2])
    result, error = started.answer()
    outcome = Outcome(
        ending=ending_of(supervised, limit),
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        usage=usage_of(limited),
        reads=tuple(found.reads),
        reads_held=found.held,
        reads_truth=Truth.OBSERVED,
        runtime_reads=found.runtime,
        programs=(),
        violations=tuple(_allowed_by_our_options(each) for each in merged(found.violations)),
        complete=found.complete,
        held=(*_held_here(plan), *plan.snippet.plan.grants.held, *held_limits(plan.limits)),
        stdout=out,
        stderr=err,
        output_bytes=max(0, supervised.output_bytes - len(started.pipes[2].kept)),
        layer=ended.layer,
        limit=limit,
        reached=reached,
    )
    return CodeOutcome(outcome, result, error)


def _held_here(plan: CodePlan) -> tuple[Held, ...]:
    has_layer = bool(plan.snippet.plan.layered)
    held = held_in(View.PRIVATE, has_ways=bool(plan.snippet.plan.ways))
    return tuple(each for each in held if has_layer or each.control is not Control.LAYER)


def _allowed_by_our_options(denied: PermissionDenied) -> PermissionDenied:
    return replace(denied, allow=None) if denied.operation in _NEVER_ALLOWED else denied
