"""What the engines have in common whose command makes the whole box: it is told everything at its start.

They hold the same controls by nearly the same means, so there is one table of them; a driver says what
is otherwise in its own. Limits are set on the command itself, before it makes anything.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import ClassVar, Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.engine import Control, Held, Lacking
from consentry.enforce.engines.commandengine import NOT_WATCHED, CommandEngine, CommandPlan
from consentry.enforce.holding import HeldLimits
from consentry.enforce.limits import Mechanism
from consentry.enforce.native.seccompfilter import FilterWish
from consentry.enforce.native.streamends import Io, StreamEnds
from consentry.enforce.process import BoxSigns, Command, CommandBox
from consentry.enforce.sealing import SealedFile
from consentry.enforce.usage import Control as Limited

_HELD: Final[Mapping[Control, str]] = {
    Control.READS: "a root of its own with nothing but the grants",
    Control.WRITES: "read-only mounts; new names that other programs obey can be made",
    Control.DENY_INSIDE: "mounts over the denied names",
    Control.NO_NETWORK: "a network namespace with nothing in it, and no named sockets",
    Control.ENVIRONMENT: "built from nothing",
    Control.PROCESSES_APART: "a pid namespace",
    Control.SYSTEM_CALLS: "a seccomp filter of ours",
    Control.NO_NEW_POWERS: "no_new_privs, empty capability sets, seccomp",
}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A command that is ready to start, and how the box it makes is found."""

    command: Command
    signs: BoxSigns


class BoxCommandEngine(CommandEngine):
    """One command that makes a box by itself; threads may share it."""

    otherwise: ClassVar[Mapping[Control, str]] = MappingProxyType({})
    """The controls that it holds by other means than the table says."""

    @abstractmethod
    def prepared(
        self,
        plan: CommandPlan,
        sealed: Sequence[SealedFile],
        streams: tuple[int, ...],
        ends: ExitStack,
        *,
        has_terminal: bool,
    ) -> Prepared:
        """The command for one run; what it opens is closed by `ends`."""

    def claims(self) -> Sequence[Held]:
        """What its mounts, namespaces and filters are to hold."""
        return tuple(Held(each, self.otherwise.get(each, how)) for each, how in _HELD.items())

    def lacks(self) -> Sequence[Lacking]:
        """What it has no means for."""
        return (
            Lacking(
                Control.LAYER, f"{self.program} writes to the host's own files, not to a layer"
            ),
            Lacking(Control.PROGRAMS, f"{self.program} starts whatever can be seen in the box"),
            Lacking(Control.WRITTEN, "what is written to the host has no quota"),
            *NOT_WATCHED,
        )

    def _started(
        self,
        plan: CommandPlan,
        sealed: Sequence[SealedFile],
        io: Io,
        streams: StreamEnds,
        held: HeldLimits,
    ) -> CommandBox:
        with ExitStack() as opened:
            terminal = io.terminal
            has_terminal = terminal is not None and streams.files[0] == terminal.its
            prepared = self.prepared(plan, sealed, streams.files, opened, has_terminal=has_terminal)
            try:
                box = CommandBox(prepared.command, prepared.signs, held.told()["groups"])
            except BaseException:
                prepared.signs.close()
                raise
        try:
            box.hold(plan.limits.rlimits)
        except BaseException as problem:
            box.close()
            if not isinstance(problem, OSError):
                raise
            message = f"the run could not be held to its limits: {problem.strerror}"
            raise Refused(Code.ENGINE_FAILED, message) from problem
        return box


def unwatched(plan: CommandPlan) -> FilterWish:
    """What the filter on system calls depends on, where nobody observes a run."""
    return FilterWish(
        observed=False,
        memory_files=plan.limits.limit(Limited.MEMORY, Mechanism.WATCHER) is None,
        lends_identity=plan.plan.direct is None,
        named_sockets=False,
    )


def unplaceable(plan: CommandPlan) -> Iterator[Lacking]:
    """The hashed bytes of a program, for a command that can put no private copy of them into a box."""
    for path in plan.wanted.program.copies:
        why = f"`{path}` would run from the host's own file, which can change once it is hashed"
        remedy = "use the engine `native`, or a program that only root may change"
        yield Lacking(Control.PROGRAMS, why, remedy)
