"""What the engines `docker` and `podman` have in common: a container as the box of a run.

The container's makers give it namespaces, mounts, groups and a filter; its first process is ours, and
adds Landlock's rules, the exact environment and the limits before it becomes the program (`starter`).
Everything the program sees comes from this host, bound read-only into an image with nothing in it, so
the daemon has to be this host's own. There is no layer, and nothing watches what is read.
"""

import os
import signal
import stat
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import ClassVar, Final

from consentry.base.values import replace
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Control, Held, Lacking, Outcome
from consentry.enforce.engines.commandengine import (
    NOT_WATCHED,
    CommandEngine,
    CommandPlan,
)
from consentry.enforce.engines.container.box import ContainerBox
from consentry.enforce.engines.container.folder import DriversFolder, starter_code
from consentry.enforce.engines.container.giving import OWN_PROCESSES, Given, Makers, container_for
from consentry.enforce.engines.container.image import image_for
from consentry.enforce.engines.container.keeper import Keeper
from consentry.enforce.engines.container.report import Report
from consentry.enforce.engines.container.words import Dialect, run_words
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.facts import HostView
from consentry.enforce.groupplaces import Holds, Place, Version
from consentry.enforce.holding import HeldLimits
from consentry.enforce.limits import MOST_DESCRIPTORS, LimitMeans, LimitPlan
from consentry.enforce.native import calls
from consentry.enforce.native.ending import ending_of
from consentry.enforce.native.planner import Plan
from consentry.enforce.native.streamends import Io, StreamEnds
from consentry.enforce.native.supervisor import Supervised
from consentry.enforce.process import Command, CommandBox
from consentry.enforce.required import untranslatable
from consentry.enforce.sealing import SealedFile
from consentry.enforce.streams import Pipe
from consentry.enforce.usage import Control as Limited
from consentry.enforce.violations import Truth

_HELD: Final = (
    Held(Control.READS, "a root of its own with nothing but the grants, and Landlock"),
    Held(Control.WRITES, "read-only mounts, and Landlock; new names others obey can be made"),
    Held(Control.DENY_INSIDE, "mounts over the denied names"),
    Held(Control.NO_NETWORK, "a network namespace with nothing in it, and no named sockets"),
    Held(Control.PROGRAMS, "Landlock, no memory files"),
    Held(Control.ENVIRONMENT, "built from nothing"),
    Held(Control.PROCESSES_APART, "a pid namespace, and Landlock's scopes"),
    Held(Control.SYSTEM_CALLS, "a seccomp filter of ours, set twice"),
    Held(Control.NO_NEW_POWERS, "no_new_privs, empty capability sets, seccomp"),
)
_OWN_TERMINAL: Final = ("/usr/bin/setsid", "--ctty", "--wait")
_GROUPS: Final = Path("/sys/fs/cgroup")
_BY_GROUPS: Final = (Limited.CPU, Limited.MEMORY, Limited.PROCESSES)
_NO_GROUPS: Final = "an ordinary user's containers have no control groups of version 1"
_OTHERS_MAY_WRITE: Final = stat.S_IWOTH | stat.S_IXOTH


class ContainerEngine(CommandEngine):
    """Drives a command that makes containers; threads may share it."""

    dialect: ClassVar[Dialect]
    own_processes = OWN_PROCESSES

    def __init__(self, ground: EngineGround) -> None:
        super().__init__(ground)
        self._host = replace(self._host, landlock_abi=calls.landlock_abi())
        self._folder: DriversFolder | None = None
        self._makers: Makers | None = None
        self._one_at_a_time = Lock()

    @abstractmethod
    def keeper(self, folder: str) -> Keeper:
        """Who keeps its images and containers; `folder` is one of ours, for its settings."""

    @abstractmethod
    def environment(self, folder: str) -> Mapping[str, str]:
        """What the command is started with; `folder` is one of ours, for its settings."""

    def ids(self) -> tuple[int, int]:
        """The user and group inside, which need not be those of the host behind them."""
        return self._host.inner

    def rlimits(self) -> dict[str, int]:
        """From the container's first process on; it lowers them for the program as the plan says."""
        return {"core": 0, "nofile": MOST_DESCRIPTORS}

    def claims(self) -> Sequence[Held]:
        """What the container and its first process hold."""
        return _HELD

    def lacks(self) -> Sequence[Lacking]:
        """What neither has a means for."""
        return (
            Lacking(Control.LAYER, "a container writes to the host's own files, not to a layer"),
            Lacking(Control.WRITTEN, "what is written to the host has no quota"),
            *NOT_WATCHED,
        )

    def untranslatable(self, wanted: Confinement, plan: Plan) -> Iterator[Lacking]:  # noqa: ARG002
        """Landlock's rules hold here: the first process takes them upon itself."""
        yield from untranslatable(wanted)

    def refusals(self, plan: CommandPlan) -> Iterator[Lacking]:
        """What cannot be held here, or not for this user."""
        if self._host.landlock_abi == 0:
            yield Lacking(Control.PROGRAMS, "this kernel has no Landlock")
        if plan.plan.direct is None or self._host.uid != 0:
            return
        for each in plan.plan.direct.roots:
            if each.root.path.stat().st_mode & _OTHERS_MAY_WRITE != _OTHERS_MAY_WRITE:
                why = f"`{each.root.path}` is closed to the user that a root caller's program has"
                remedy = "run it as the user who owns the folder, or use the engine `native`"
                yield Lacking(Control.WRITES, why, remedy)

    def _tried(self, wanted: Confinement) -> Outcome:
        if self._host.uid == 0:
            # What the trial may write is its own, and is to be written by the user it runs as.
            (wanted.workspace / "writable").chmod(0o777)
        return super()._tried(wanted)

    def _limits(self, wanted: Confinement) -> LimitPlan:
        if self._means is None:
            means = LimitMeans.of(HostView(uid=self._host.uid))
            # The container's makers give it groups of its own; we make none.
            self._means = replace(
                means, places=self.groups(), counts_box_alone=False, can_watch=False
            )
        limits = LimitPlan.of(wanted.limits, self._means, writes=wanted.writes)
        unheld = (
            replace(each, why=_NO_GROUPS) if each.control in _BY_GROUPS else each
            for each in limits.unheld
        )
        return replace(limits, places=(), unheld=tuple(unheld))

    def groups(self) -> tuple[Place, ...]:
        """The control groups that a container gets here, by what they hold."""
        is_second = (_GROUPS / "cgroup.controllers").exists()
        holds = frozenset({Holds.MEMORY, Holds.PIDS, Holds.TIME})
        return (Place(_GROUPS, Version.V2 if is_second else Version.V1, holds),)

    def _started(
        self,
        plan: CommandPlan,
        sealed: Sequence[SealedFile],
        io: Io,
        streams: StreamEnds,
        held: HeldLimits,  # noqa: ARG002 - the container has groups of its own
    ) -> CommandBox:
        driver, makers = self._ready()
        folder = driver.of_run(f"consentry-{os.urandom(8).hex()}")
        terminal = io.terminal
        given = Given(
            plan,
            sealed,
            self._host,
            has_input=io.stdin is not None or (terminal is not None and terminal.typed is not None),
            has_terminal=terminal is not None and streams.files[0] == terminal.its,
        )
        try:
            container = container_for(given, makers, folder)
            # So that the command hears of another size of the terminal.
            leads = _OWN_TERMINAL if given.has_terminal and Path(_OWN_TERMINAL[0]).exists() else ()
            command = Command(
                (*leads, self.program_path(), *run_words(container, self.dialect)),
                self.environment(driver.settings),
                streams.files,
            )
            return ContainerBox(command, folder, self.keeper(driver.settings))
        except BaseException:
            folder.remove()
            raise

    def _ready(self) -> tuple[DriversFolder, Makers]:
        with self._one_at_a_time:
            if self._folder is None:
                self._folder = DriversFolder(self.name)
                self._folder.sweep(self.keeper(self._folder.settings).end_container)
            if self._makers is None:
                self._makers = self._made(self._folder)
            return self._folder, self._makers

    def _made(self, folder: DriversFolder) -> Makers:
        image, keeper = image_for(), self.keeper(folder.settings)
        if not keeper.has_image(image.name):
            keeper.import_image(image)
        interpreter = folder.give_interpreter()
        return Makers(image.name, self.ids(), self.rlimits(), starter_code(), interpreter)

    def _outcome(
        self,
        plan: CommandPlan,
        supervised: Supervised,
        pipes: Sequence[Pipe],
        held: HeldLimits,
    ) -> Outcome:
        outcome = super()._outcome(plan, supervised, pipes, held)
        report = supervised.ended.notes.get("report")
        if not isinstance(report, Report):
            return outcome
        limit = outcome.limit or report.limit
        was_killed = report.code == -signal.SIGKILL
        if limit is None and was_killed and report.usage.kills and not supervised.was_told_to_end:
            limit = Limited.MEMORY.value
        used = report.usage
        usage = replace(
            outcome.usage,
            cpu_seconds=max(outcome.usage.cpu_seconds, used.cpu_seconds),
            peak_bytes=max(outcome.usage.peak_bytes, used.memory_bytes),
        )
        if used.cpu_truth is used.memory_truth is Truth.KERNEL:
            usage = replace(usage, truth=Truth.KERNEL)
        return replace(outcome, limit=limit, usage=usage, ending=ending_of(supervised, limit))

    def close(self) -> None:
        """Ends what is left, and removes its folder."""
        with self._one_at_a_time:
            if self._folder is not None:
                self._folder.close(self.keeper(self._folder.settings).end_container)
                self._folder = self._makers = None
