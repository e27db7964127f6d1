"""What all engines have in common that are commands: they show, compile and run in the same way.

Each says which command it is, how a box of it is started, and by what it claims to hold each
control. What it may claim is decided by attacks in a box of its own on this host, once: that is
remembered in the state directory under everything that it depends on. Limits, time, output, signals
and terminals are held by the same code as the native engine's; files read and what is refused are
not seen by any of them, and an empty list of those says nothing.
"""

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar, Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, replace
from consentry.decide.permit import Permit
from consentry.enforce.cgroups import sweep
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Control, Held, Lacking, NotEnforceable, Outcome, Probe
from consentry.enforce.engines.boxplan import untold
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.interface import Compiled
from consentry.enforce.engines.rememberedprobe import RememberedProbe
from consentry.enforce.engines.tryout import try_out_direct
from consentry.enforce.facts import HostView
from consentry.enforce.holding import HeldLimits
from consentry.enforce.hops import leads_through
from consentry.enforce.interrupts import Uninterrupted
from consentry.enforce.limits import LimitMeans, LimitPlan
from consentry.enforce.native import calls
from consentry.enforce.native.ending import LIMITED, LimitWatch, ending_of, held_limits, usage_of
from consentry.enforce.native.otherids import FIRST, ids_behind_root
from consentry.enforce.native.planner import Host, Plan, compile_plan, require_rounding
from consentry.enforce.native.probe import Trial
from consentry.enforce.native.streamends import Io, StreamEnds
from consentry.enforce.native.supervisor import Bounds, Supervised, Supervisor
from consentry.enforce.ownership import stranger_over_file
from consentry.enforce.process import CommandBox
from consentry.enforce.required import (
    held_by_landlock,
    lacking_for,
    require_nothing_held,
    untranslatable,
)
from consentry.enforce.sealing import SealedFile, require_permitted
from consentry.enforce.streams import Pipe
from consentry.enforce.violations import Truth
from consentry.surface.modes import Writes

NOT_WATCHED: Final = (
    Lacking(Control.FILES_READ, "which files are read is not watched by this engine"),
    Lacking(Control.DENIALS, "what is refused is not watched by this engine"),
)
_KIB: Final = 1024


@dataclass(frozen=True, slots=True)
class CommandPlan(Compiled):
    """What a command is told of a confinement; the descriptors are added when it starts."""

    engine: str


class CommandEngine(ABC):
    """One command; threads may share it."""

    name: ClassVar[str]
    program: ClassVar[str]
    own_processes: ClassVar[int] = 1
    """Processes of the engine that are in the run's control group beside the program."""

    def __init__(self, ground: EngineGround) -> None:
        self._ground = ground
        uid = os.getuid()
        self._host = Host(
            uid=uid,
            gid=os.getgid(),
            machine=calls.MACHINE,
            landlock_abi=0,
            home=ground.home,
            protected=ground.protected,
            behind_root=ids_behind_root(HostView()) if uid == 0 else FIRST,
        )
        self._means: LimitMeans | None = None
        self._trial: Trial | None = None

    @abstractmethod
    def claims(self) -> Sequence[Held]:
        """The controls that it says to hold, and by what; limits are not among them."""

    @abstractmethod
    def lacks(self) -> Sequence[Lacking]:
        """The controls that it has no means for."""

    @abstractmethod
    def _started(
        self,
        plan: CommandPlan,
        sealed: Sequence[SealedFile],
        io: Io,
        streams: StreamEnds,
        held: HeldLimits,
    ) -> CommandBox:
        """A box that is held to its limits, and whose program waits to be let go on."""

    def untranslatable(self, wanted: Confinement, plan: Plan) -> Iterator[Lacking]:
        """What no command can be told of, unless it has something of ours to hold it by."""
        yield from untranslatable(wanted)
        yield from held_by_landlock(plan)

    def refusals(self, plan: CommandPlan) -> Iterator[Lacking]:  # noqa: ARG002 - for those below
        """What of a plan it cannot be told; nothing, usually."""
        yield from ()

    def found(self) -> str | None:
        """The command, where it is on the caller's path; a relative folder there is anybody's."""
        folders = (self._ground.path or os.defpath).split(os.pathsep)
        absolute = os.pathsep.join(each for each in folders if each.startswith("/"))
        return shutil.which(self.program, path=absolute)

    def missing(self) -> str | None:
        """Why it cannot be used at all, from looking at files alone."""
        path = self.found()
        if path is None:
            return f"there is no `{self.program}` on PATH"
        try:
            stranger = stranger_over_file(Path(path), self._host.uid)
        except OSError as problem:
            return f"`{path}`: {(problem.strerror or 'cannot be looked at').lower()}"
        if stranger is None and self._ground.workspace is not None:
            stranger = _stranger_in(self._ground.workspace, path)
        return None if stranger is None else f"{stranger}, so it is not started"

    def probe(self) -> Probe:
        """What it enforces on this host, remembered from when it was shown."""
        kept = self._kept()
        known = kept.read()
        if known is None:
            known = self.try_out().probe
            kept.write(known)
        return known

    def try_out(self) -> Trial:
        """The probe and the score-card it was made from; carried out once."""
        if self._trial is None:
            self._trial = try_out_direct(self.name, self._tried, self.lacks())
        return self._trial

    def _kept(self) -> RememberedProbe:
        path, ground = self.program_path(), self._ground
        return RememberedProbe(self.name, path, ground.state, self._host.uid, self.depends_on())

    def depends_on(self) -> str:
        """What it depends on besides the command, the kernel and the user."""
        return ""

    def program_path(self) -> str:
        """Raises where it is missing."""
        path = self.found()
        if path is None:
            raise Refused(Code.NOT_ENFORCEABLE, f"the engine `{self.name}` is not here")
        return path

    def _tried(self, wanted: Confinement) -> Outcome:
        """A run of our own attacks, which need no permit; nothing else comes this way."""
        return self._run(self._compiled(wanted, None), (), Io(keeps=True), lambda: None)

    def compile(self, wanted: Confinement) -> CommandPlan:
        """Binds it to this host; raises `NotEnforceable` with all that it lacks."""
        require_nothing_held(self.name, wanted)
        stranger = _stranger_in(wanted.workspace, self.program_path())
        if stranger is not None:
            raise Refused(Code.NOT_ENFORCEABLE, f"{stranger}, so it is not started")
        return self._compiled(wanted, self.probe())

    def _compiled(self, wanted: Confinement, shown: Probe | None) -> CommandPlan:
        if shown is not None and not shown.is_usable:
            raise NotEnforceable(self.name, shown.lacking[:1])
        limits = self._limits(wanted)
        try:
            plan = compile_plan(wanted, self._host)
        except NotEnforceable as problem:
            raise NotEnforceable(self.name, problem.lacking) from problem
        compiled = CommandPlan(wanted, plan, limits, self.name)
        lacking = [
            *self.untranslatable(wanted, plan),
            *untold(plan),
            *(Lacking(LIMITED[each.control], each.why) for each in limits.unheld),
            *self.refusals(compiled),
        ]
        if shown is not None:
            lacking += lacking_for(wanted, plan, shown)
        if lacking:
            # Of each control the first reason, which is the nearest to what was asked for.
            first = {each.control: each for each in reversed(lacking)}
            raise NotEnforceable(self.name, list(reversed(first.values())))
        require_rounding(self.name, wanted, plan)
        return compiled

    def _limits(self, wanted: Confinement) -> LimitPlan:
        if self._means is None:
            # Its limits are set before there is a namespace of its own to count in.
            means = LimitMeans.of(HostView(uid=self._host.uid))
            self._means = replace(means, counts_box_alone=False)
            sweep(self._means.places)
        # What is written has no quota in any of them, be it to the host or to the run's own folders.
        return LimitPlan.of(wanted.limits, self._means, writes=Writes.DIRECT)

    def is_current(self, plan: Compiled) -> bool:  # noqa: ARG002 - of an interface
        """What lies in the granted places is looked at anew for each run."""
        return False

    def launch(
        self,
        plan: Compiled,
        permitted: Callable[[], Permit],
        sealed: Sequence[SealedFile],
        io: Io,
        state: Path | None = None,  # noqa: ARG002 - it has no layer that could lie there
    ) -> Outcome:
        """Runs it to its end, with the very bytes that the permit names."""
        if not isinstance(plan, CommandPlan) or plan.engine != self.name:
            raise TypeError(f"compiled by another engine: {type(plan).__name__}")
        return self._run(
            plan, sealed, io, lambda: require_permitted(permitted(), plan.wanted, sealed)
        )

    def _run(
        self,
        plan: CommandPlan,
        sealed: Sequence[SealedFile],
        io: Io,
        allowed: Callable[[], None],
    ) -> Outcome:
        with Uninterrupted() as interrupts, ExitStack() as ends:
            held = HeldLimits(
                plan.limits, f"run-{os.urandom(8).hex()}", own_processes=self.own_processes
            )
            ends.callback(held.close)
            streams = StreamEnds.of(io)
            try:
                box = self._started(plan, sealed, io, streams, held)
            except BaseException:
                for pipe in streams.pipes:
                    pipe.close()
                raise
            finally:
                streams.close()
            limits = plan.wanted.limits
            watch = LimitWatch(box, held)
            bounds = Bounds(limits.wall_seconds, limits.output_bytes, watch.exceeded, watch.pause)
            io.supervisor = Supervisor(box, bounds, streams.pipes, io.terminal, io.ends)
            try:
                with interrupts.let_through():
                    allowed()
                box.go_on()
                supervised = io.supervisor.stay()
            except BaseException:
                io.supervisor.give_up()
                raise
            self._require_built(supervised, streams.pipes)
            return self._outcome(plan, supervised, streams.pipes, held)

    def _require_built(self, supervised: Supervised, pipes: Sequence[Pipe]) -> None:
        ended = supervised.ended
        was_stopped = supervised.timed_out or supervised.was_told_to_end or supervised.limit
        if ended.problem is None or was_stopped:
            return
        kept = [line for pipe in pipes for line in bytes(pipe.kept).splitlines() if line.strip()]
        said = os.fsdecode(kept[-1]) if kept else "see what it printed"
        message = f"`{self.program}` could not make the box or start the program: {said}"
        raise Refused(Code.ENGINE_FAILED, message)

    def _outcome(
        self,
        plan: CommandPlan,
        supervised: Supervised,
        pipes: Sequence[Pipe],
        held: HeldLimits,
    ) -> Outcome:
        ended = supervised.ended
        seconds = ended.user_seconds + ended.system_seconds
        limited = held.outcome(ended.status, seconds, ended.peak_kib * _KIB)
        limit = supervised.limit
        if limit is None and limited.exceeded is not None:
            limit = limited.exceeded.control.value
        code = ended.status
        kept = [bytes(pipe.kept) for pipe in pipes if pipe.keeps] or [b"", b""]
        return Outcome(
            ending=ending_of(supervised, limit),
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            usage=usage_of(limited),
            reads=(),
            reads_truth=Truth.OBSERVED,
            runtime_reads={},
            programs=(),
            violations=(),
            complete=False,
            held=(*self.claims(), *plan.plan.grants.held, *held_limits(plan.limits)),
            stdout=kept[0],
            stderr=kept[-1],
            output_bytes=supervised.output_bytes,
            limit=limit,
            direct={} if plan.plan.direct is not None else None,
            sees_reads=False,
        )

    def close(self) -> None:  # noqa: B027 - of an interface
        """Nothing of it is kept running."""


def _stranger_in(workspace: Path, program: str) -> str | None:
    """Whoever made the workspace may have put the command there."""
    if not leads_through(Path(program), workspace):
        return None
    return f"`{program}` lies in the workspace, or is reached through it"
