"""The engine that needs nothing installed: the kernel's own means, from a small launcher.

`compile` binds a confinement to this host; `launch` runs it and reports what the kernel, the layer
and the observer say. The same plan runs as root and as an ordinary user.
"""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from consentry.base.values import dataclass, replace
from consentry.decide.permit import Permit
from consentry.enforce.cgroups import sweep
from consentry.enforce.confinement import Confinement, Limits
from consentry.enforce.egress.report import Reached
from consentry.enforce.engine import (
    Lacking,
    NotEnforceable,
    Outcome,
    Probe,
)
from consentry.enforce.engines.boxholds import BoxHolds
from consentry.enforce.engines.boxlayer import disk_layer, with_layer_on_disk
from consentry.enforce.engines.boxnetwork import BoxNetwork, KeptProxy
from consentry.enforce.engines.boxrequest import request_of
from consentry.enforce.engines.interface import Compiled
from consentry.enforce.facts import HostView
from consentry.enforce.groupstock import GroupStock
from consentry.enforce.holding import HeldLimits
from consentry.enforce.interrupts import Uninterrupted
from consentry.enforce.limits import LimitMeans, LimitPlan, Mechanism
from consentry.enforce.native import calls
from consentry.enforce.native.audithost import attestation, attested_here
from consentry.enforce.native.boxcontrols import held_in
from consentry.enforce.native.directplan import held_at_once
from consentry.enforce.native.disklayer import DiskLayer
from consentry.enforce.native.ending import (
    LIMITED,
    LimitWatch,
    ending_of,
    held_limits,
    require_built,
    usage_of,
)
from consentry.enforce.native.findings import denied_by_landlock, findings_of, merged
from consentry.enforce.native.landlockaudit import Attested, Watch
from consentry.enforce.native.mediatedreads import with_mediated_reads
from consentry.enforce.native.nonamespaces import NoNamespaces, refused_namespaces, shows_signs
from consentry.enforce.native.otherids import FIRST, ids_behind_root
from consentry.enforce.native.parent import NativeParent, Running
from consentry.enforce.native.planner import (
    ENGINE,
    Host,
    compile_plan,
    require_rounding,
)
from consentry.enforce.native.planparts import hidden_places
from consentry.enforce.native.streamends import Io, StreamEnds
from consentry.enforce.native.supervisor import Bounds, Supervised, Supervisor
from consentry.enforce.native.unheld import unheld_of
from consentry.enforce.sealing import SealedFile, require_permitted
from consentry.enforce.streams import Pipe
from consentry.enforce.usage import Control as LimitedControl
from consentry.enforce.violations import Truth
from consentry.surface.modes import Reads, View, Writes
from consentry.surface.protected import ProtectedRoots

if TYPE_CHECKING:
    from consentry.enforce.native.baremode import BareRuns
    from consentry.enforce.native.otherways import WayCard
    from consentry.enforce.native.probe import Trial

__all__ = ["Io", "NativeEngine", "NativePlan"]

_KIB: Final = 1024


@dataclass(frozen=True, slots=True)
class NativePlan(Compiled):
    """What the launcher is told."""

    bare: Mapping[str, Any] | None = None
    """What it is told besides, where there are no namespaces."""


class NativeEngine:
    """One launcher, kept while this object lives; threads may share it."""

    name = ENGINE

    def __init__(
        self,
        home: Path | None,
        protected: ProtectedRoots,
        *,
        ahead: int = 0,
        state: Path | None = None,
    ) -> None:
        """`ahead` boxes are built before they are needed, once something was run.

        In `state` a layer on the disk is made, or noted; without it there is none.
        """
        self._ahead = ahead
        self._state = state
        self._host = Host(
            uid=os.getuid(),
            gid=os.getgid(),
            machine=calls.MACHINE,
            landlock_abi=calls.landlock_abi(),
            home=home,
            protected=protected,
            behind_root=ids_behind_root(HostView()) if os.getuid() == 0 else FIRST,
        )
        self._parent: NativeParent | None = None
        self._one_start = Lock()
        self._trial: Trial | None = None
        self._means: LimitMeans | None = None
        self._stock: GroupStock | None = None
        self._proxy = KeptProxy()
        self._one_look = Lock()
        self._has_looked = False
        self._bare: BareRuns | None = None

    def missing(self) -> str | None:
        """It needs nothing installed."""
        return None

    def probe(self) -> Probe:
        """What it enforces on this host, shown by doing it."""
        return self.try_out().probe

    def try_out(self) -> "Trial":
        """The probe and the score-card it was made from; carried out once."""
        if self._trial is None:
            self._trial = self._try_out()
        return self._trial

    def try_other_ways(self, folders: Sequence[Path]) -> "tuple[WayCard, ...]":
        """The score-cards of the ways that the probe does not try; places are made in the folders."""
        from consentry.enforce.native.otherways import try_other_ways  # noqa: PLC0415 - as below

        return try_other_ways(self._tried, folders, self._host.protected)

    def _try_out(self) -> "Trial":
        from consentry.enforce.native.probe import (  # noqa: PLC0415 - no run is a trial
            try_out,
            try_out_bare,
        )

        without = self.without_namespaces()
        if without is not None:
            return try_out_bare(self.name, self._tried, without)
        trial = try_out(self.name, self._tried)
        if trial.probe.is_usable:
            attested = attested_here(self._host.uid, self._host.landlock_abi)
            return replace(trial, probe=replace(trial.probe, attested=attested))
        without = self.without_namespaces(surely=True)
        return trial if without is None else try_out_bare(self.name, self._tried, without)

    def _tried(self, wanted: Confinement) -> Outcome:
        """A run of our own attacks, which need no permit; nothing else comes this way."""
        plan = self.compile(wanted)
        return self._held_run(plan, (), Io(keeps=True))

    def compile(self, wanted: Confinement) -> NativePlan:
        """Binds it to this host; raises `NotEnforceable` with what is not built or not there."""
        self.without_namespaces()
        bare = self._bare
        return self._compiled(wanted) if bare is None else self._compiled_bare(wanted, bare)

    def without_namespaces(self, *, surely: bool = False) -> NoNamespaces | None:
        """Why there are none; `surely` asks the kernel even where nothing speaks against them."""
        with self._one_look:
            if surely or not self._has_looked:
                self._has_looked = True
                if surely or shows_signs(HostView(uid=self._host.uid)):
                    self._settle_on(
                        refused_namespaces(
                            lambda wanted: self._held_run(
                                self._compiled(wanted), (), Io(keeps=True)
                            )
                        )
                    )
            return None if self._bare is None else self._bare.without

    def _settle_on(self, without: NoNamespaces | None) -> None:
        if without is not None:
            from consentry.enforce.native import baremode  # noqa: PLC0415 - as it says

            self._bare = baremode.BareRuns(self._host, without)
            self.close()

    def _compiled_bare(self, wanted: Confinement, bare: "BareRuns") -> NativePlan:
        # The processes of the user are counted together, there being no namespace to count.
        means = replace(self._limit_means(), counts_box_alone=False)
        limits = LimitPlan.of(wanted.limits, means, writes=Writes.DIRECT)
        is_counted = limits.limit(LimitedControl.MEMORY, Mechanism.WATCHER) is None
        plan, told = bare.compiled(wanted, limits, counted=is_counted)
        require_rounding(self.name, wanted, plan)
        return NativePlan(wanted, plan, limits, told)

    def _compiled(self, wanted: Confinement) -> NativePlan:
        lacking = list(unheld_of(wanted, self._host))
        limits = LimitPlan.of(
            _with_sequencer(wanted), self._limit_means(), writes=wanted.writes, layer=wanted.layer
        )
        lacking += [Lacking(LIMITED[each.control], each.why) for each in limits.unheld]
        if lacking:
            raise NotEnforceable(self.name, lacking)
        # Only a control group counts a file in memory that nobody has mapped.
        is_counted = limits.limit(LimitedControl.MEMORY, Mechanism.WATCHER) is None
        plan = compile_plan(wanted, self._host, memory_files=is_counted)
        require_rounding(self.name, wanted, plan)
        if wanted.reads is Reads.EXACT:
            plan = with_mediated_reads(plan)
        return NativePlan(wanted, plan, limits)

    def is_current(self, plan: Compiled) -> bool:
        """Whether what lies in the granted roots and is denied is still what the plan hides."""
        compiled, wanted = plan.plan, plan.wanted
        grants = compiled.grants
        if not compiled.alike or grants.picked or grants.rounded:
            return False  # which files there are to be picked is not remembered
        if compiled.direct is not None or wanted.view is View.VISIBLE:
            return False  # what other programs obey, or the whole tree, has to be looked at anew
        shown = [*(layer.root for layer in compiled.layered), *compiled.readable]
        found = hidden_places(compiled.denied, shown, wanted.workspace, self._host.home)
        return compiled.hidden == tuple(found)

    def _limit_means(self) -> LimitMeans:
        if self._means is None:
            self._means = LimitMeans.of(HostView(uid=self._host.uid))
        return self._means

    def launch(
        self,
        plan: Compiled,
        permitted: Callable[[], Permit],
        sealed: Sequence[SealedFile],
        io: Io,
    ) -> Outcome:
        """Runs it to its end, with the very bytes that the permit names.

        A layer on the disk is made in the state directory, or noted there. The box is built while
        `permitted` gets and spends the permit; nothing of the program starts before that has returned
        and the permit was found to be for this run.
        """

        def allowed() -> None:
            require_permitted(permitted(), plan.wanted, sealed)

        if not isinstance(plan, NativePlan):
            raise TypeError(f"compiled by another engine: {type(plan).__name__}")
        return self._held_run(plan, sealed, io, allowed)

    def _held_run(
        self,
        plan: NativePlan,
        sealed: Sequence[SealedFile],
        io: Io,
        allowed: Callable[[], None] = lambda: None,
    ) -> Outcome:
        with Uninterrupted(), ExitStack() as ends:
            parent = self._launcher()
            disk = disk_layer(plan.wanted, plan.plan, self._host.inner, self._state)
            if disk is not None:
                ends.enter_context(disk)
            if self._bare is not None:
                plan = replace(plan, **self._bare.placed(plan.wanted, plan.plan, ends))
            held = HeldLimits(plan.limits, f"run-{os.urandom(8).hex()}", stock=self._stock)
            ends.callback(held.close)
            records = ends.enter_context(attestation(plan.wanted.denials))
            return self._run(parent, plan, sealed, io, held, records, allowed, disk)

    def _launcher(self) -> NativeParent:
        with self._one_start:
            if self._parent is not None and self._parent.is_gone:
                self.close()
            if self._parent is None:
                places = self._limit_means().places
                sweep(places)
                if self._bare is None:
                    self._stock = GroupStock(places, self._ahead)
                    self._parent = NativeParent()
                else:
                    self._parent = NativeParent(self._bare.launcher)
            return self._parent

    def _run(
        self,
        parent: NativeParent,
        plan: NativePlan,
        sealed: Sequence[SealedFile],
        io: Io,
        held: HeldLimits,
        records: Watch | None,
        allowed: Callable[[], None],
        disk: DiskLayer | None,
    ) -> Outcome:
        with closing(BoxHolds(io.holds, plan.wanted, is_bare=self._bare is not None)) as holds:
            running, streams, go = self._started(
                parent, plan, sealed, io, held, records, disk, holds
            )
            wanted = plan.wanted
            limits = wanted.limits
            if disk is not None:
                held.count_on_disk(disk.uppers())
            watch = LimitWatch(running, held)
            bounds = Bounds(limits.wall_seconds, limits.output_bytes, watch.exceeded, watch.pause)
            io.supervisor = Supervisor(
                running, bounds, streams.pipes, io.terminal, io.ends, io.curtain
            )
            network = BoxNetwork(self._proxy, wanted, holds.desk)
            try:
                supervised = self._supervised(io.supervisor, running, allowed, go, network)
            except BaseException:
                network.close()
                # Nobody would look after it any more.
                io.supervisor.give_up()
                raise
            finally:
                # However it went: the group that the box had is not the launcher's any more.
                if running.pid is not None:
                    held.started_in(running.group)
            # Also of a box that failed: the proxy is not left waiting for it.
            reached = network.finish()
            require_built(supervised.ended)
            attested = None if records is None else records.finish()
            outcome = self._outcome(plan, supervised, streams.pipes, held, attested, reached)
            outcome = holds.added_to(outcome)
            return outcome if disk is None else with_layer_on_disk(outcome, disk)

    def _started(
        self,
        parent: NativeParent,
        plan: NativePlan,
        sealed: Sequence[SealedFile],
        io: Io,
        held: HeldLimits,
        records: Watch | None,
        disk: DiskLayer | None,
        holds: BoxHolds,
    ) -> tuple[Running, StreamEnds, socket.socket]:
        """The box, its streams, and where it is told to let its program go."""
        if self._bare is not None:
            self._bare.require_no_sockets(io.stdin, io.stdout, io.stderr)
        streams = StreamEnds.of(io)
        waits, go = socket.socketpair()
        files = [
            *streams.files,
            waits.fileno(),
            *(() if io.terminal is None else (io.terminal.its,)),
        ]
        request = self._request(plan, len(files), has_terminal=io.terminal is not None)
        if records is not None and plan.plan.landlock is not None:
            request["landlock"] = {**plan.plan.landlock, "mark": records.mark}
        files += [each.descriptor for each in sealed]
        if disk is not None:
            files.append(disk.bell)
            request |= {"disk": disk.told, "bell": len(files)}
        request |= holds.told(plan.plan, files, self._host.protected, self._state)
        doors: list[int] = []
        try:
            told = held.told()
            if self._bare is not None:
                told = self._bare.with_doors(told, 1 + len(files), doors)
            running = parent.launch({**request, **told}, [*files, *doors])
            holds.start()
        except BaseException:
            go.close()
            for pipe in streams.pipes:
                pipe.close()
            raise
        finally:
            waits.close()
            streams.close()
            for door in doors:
                os.close(door)
        return running, streams, go

    def _supervised(
        self,
        supervisor: Supervisor,
        running: Running,
        allowed: Callable[[], None],
        go: socket.socket,
        network: BoxNetwork,
    ) -> Supervised:
        """Lets the program start when it is allowed to, and stays with it."""
        try:
            with Uninterrupted() as interrupts, interrupts.let_through():
                allowed()
            network.open(running)
            # Where the box could not be built, nobody reads this.
            with suppress(BrokenPipeError):
                go.send(b"g", socket.MSG_NOSIGNAL)
        finally:
            go.close()
        if self._stock is not None:
            self._stock.restock()  # while the program runs
        return supervisor.stay()

    def _request(self, plan: NativePlan, given: int, *, has_terminal: bool) -> dict[str, object]:
        ids, ahead = self._host.inner, self._ahead
        return request_of(plan, plan.bare, ids, given, ahead=ahead, has_terminal=has_terminal)

    def _outcome(
        self,
        plan: NativePlan,
        supervised: Supervised,
        pipes: tuple[Pipe, ...],
        held: HeldLimits,
        attested: Attested | None,
        reached: Reached,
    ) -> Outcome:
        ended = supervised.ended
        seconds = ended.user_seconds + ended.system_seconds
        limited = held.outcome(ended.status, seconds, ended.peak_kib * _KIB)
        limit = supervised.limit
        if limit is None and limited.exceeded is not None:
            limit = limited.exceeded.control.value
        found = findings_of(ended.notes, plan.plan, self._host.protected)
        found.add_reached(reached)
        if attested is not None:
            found.add_attested(denied_by_landlock(attested, plan.plan, self._host.protected))
            found.complete = found.complete and attested.is_complete
        reads = plan.wanted.reads if found.reads_truth is Truth.MEDIATED else Reads.OBSERVED
        held_here = held_in(plan.wanted.view, attested, reads, has_ways=bool(plan.plan.ways))
        if self._bare is not None:
            held_here = self._bare.held
        if plan.plan.direct is not None:
            held_here = tuple(held_at_once(held_here))
        code = ended.status
        kept = [bytes(pipe.kept) for pipe in pipes if pipe.keeps] or [b"", b""]
        return Outcome(
            ending=ending_of(supervised, limit),
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            usage=usage_of(limited),
            reads=tuple(found.reads),
            reads_held=found.held,
            direct=None if plan.plan.direct is None else found.direct,
            reads_truth=found.reads_truth,
            read_states=found.states,
            touched=tuple(found.touched),
            runtime_reads=found.runtime,
            programs=tuple(found.programs),
            violations=tuple(merged(found.violations)),
            complete=found.complete,
            held=(
                *held_here,
                *plan.plan.grants.held,
                *held_limits(plan.limits),
            ),
            stdout=kept[0],
            stderr=kept[-1],
            output_bytes=supervised.output_bytes,
            layer=ended.layer,
            limit=limit,
            reached=reached,
            mode=None if self._bare is None else self._bare.mode,
        )

    def close(self) -> None:
        """Ends the launcher."""
        with Uninterrupted():
            if self._parent is not None:
                self._parent.close()
                self._parent = None
            if self._stock is not None:
                self._stock.close()
                self._stock = None
            self._proxy.close()


def _with_sequencer(wanted: Confinement) -> Limits:
    """The limits, with a process more where one of ours starts several commands in order."""
    limits = wanted.limits
    if not wanted.program.then or limits.processes is None:
        return limits
    return replace(limits, processes=limits.processes + 1)
