"""The limits of one run while it lives: set before it starts, looked at, and cleaned up after it.

    held = HeldLimits(plan, run_id)
    try:
        running = parent.launch({**told, **held.told()}, files)
        ...                        # when it has started: held.watch(pid)
        ...                        # when it has a store: held.count_store(descriptor)
        ...                        # every `held.pause` seconds: held.check() -> end it if not None
        outcome = held.outcome(status, seconds, peak_bytes)
    finally:
        held.close()

Only the first limit that a run went over is reported: what comes after it comes of being stopped.
"""

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.cgroups import RunGroup, settings_of
from consentry.enforce.diskcount import DiskCount
from consentry.enforce.groupstock import GroupStock
from consentry.enforce.limits import LimitPlan, Mechanism
from consentry.enforce.usage import Control, Exceeded, Usage
from consentry.enforce.watcher import INTERVAL_SECONDS, Watcher

_HELD_BY_KERNEL_SECONDS: Final = 0.25
_GROUPS: Final = (Mechanism.CGROUP_V1, Mechanism.CGROUP_V2)
_SIGNALS: Final = {signal.SIGXCPU: Control.CPU, signal.SIGXFSZ: Control.FILE}


@dataclass(frozen=True, slots=True)
class LimitOutcome:
    """What a run used in all, and the limit it was stopped for, if any."""

    usage: Usage
    exceeded: Exceeded | None


class HeldLimits:
    """Not shared between threads."""

    def __init__(
        self,
        plan: LimitPlan,
        run_id: str,
        clock: Callable[[], float] = time.monotonic,
        stock: GroupStock | None = None,
        own_processes: int = 1,
    ) -> None:
        """Makes the run's groups; raises when something was asked for that nothing holds.

        With a `stock`, the run has the group that it is found in when it has started. Of those in a
        group that is made here, `own_processes` are the engine's.
        """
        if plan.unheld:
            listed = "; ".join(map(str, plan.unheld))
            raise Refused(Code.ENGINE_FAILED, f"limits that this host cannot hold: {listed}")
        self._plan = plan
        self._clock = clock
        self._watcher: Watcher | None = None
        self._store: int | None = None
        self._pid: int | None = None
        self._disk: DiskCount | None = None
        self._usage = Usage()
        self._exceeded: Exceeded | None = None
        self._look_again_at = clock() + INTERVAL_SECONDS
        self._stock = stock if plan.places else None
        self._is_supplied = False
        self._group = self._make_group(run_id, own_processes) if stock is None else None

    def _make_group(self, run_id: str, own_processes: int) -> RunGroup | None:
        if not self._plan.places:
            return None
        memory, processes = self._group_limits()
        try:
            return RunGroup(
                self._plan.places,
                run_id,
                memory_bytes=memory,
                processes=processes,
                own_processes=own_processes,
            )
        except OSError as problem:
            raise _no_group(problem) from problem

    def _group_limits(self) -> tuple[int | None, int | None]:
        memory = self._plan.limit(Control.MEMORY, *_GROUPS)
        processes = self._plan.limit(Control.PROCESSES, *_GROUPS)
        return (
            None if memory is None else int(memory),
            None if processes is None else int(processes),
        )

    def told(self) -> dict[str, Any]:
        """What the launcher must be told; called once."""
        told = {"rlimits": list(self._plan.rlimits), "layer_bytes": self._plan.layer_bytes}
        if self._stock is None:
            return {**told, "groups": [] if self._group is None else self._group.doors}
        try:
            supply = self._stock.supply()
        except OSError as problem:
            raise _no_group(problem) from problem
        self._is_supplied = True
        return {**told, "stock": supply, "group_limits": list(self._settings())}

    def _settings(self) -> Iterator[tuple[int, str, int, bool]]:
        """By the number of the place, because the group is not known yet."""
        for number, place in enumerate(self._plan.places):
            for name, value, may_lack in settings_of(place, *self._group_limits()):
                yield (number, name, value, may_lack)

    def started_in(self, name: str) -> None:
        """The group that the box has, by its name."""
        if self._stock is not None and self._group is None:
            self._group = self._stock.started(name)
            self._look_again_at = self._clock() + self.pause

    @property
    def pause(self) -> float:
        """How long to wait before the next look.

        What the kernel holds by itself is looked at now and then, to tell of it while it runs.
        """
        if self._watcher is not None:
            return self._watcher.pause
        if self._disk is not None:
            return INTERVAL_SECONDS
        is_counted_here = self._plan.limit(Control.CPU) is not None
        return INTERVAL_SECONDS if is_counted_here else _HELD_BY_KERNEL_SECONDS

    def watch(self, pid: int, *, counts_first: bool = False) -> None:
        """Says which process is the box's first, and whether it is a part of what is run."""
        self._pid = pid
        if all(
            held.mechanism is not Mechanism.WATCHER or held.control is Control.WRITTEN
            for held in self._plan.controls
        ):
            return
        memory = self._plan.limit(Control.MEMORY, Mechanism.WATCHER)
        processes = self._plan.limit(Control.PROCESSES, Mechanism.WATCHER)
        self._watcher = Watcher(
            pid,
            memory_bytes=None if memory is None else int(memory),
            most_processes=None if processes is None else int(processes),
            counts_first=counts_first,
        )
        self._look_again_at = self._clock() + self.pause

    def count_store(self, descriptor: int) -> None:
        """Files that the box keeps in memory are memory; a control group counts them by itself."""
        if self._watcher is not None or self._disk is not None:
            self._store = os.dup(descriptor)
        if self._watcher is not None and self._store is not None:
            self._watcher.count_files(self._store)

    def count_on_disk(self, folders: Iterable[int]) -> None:
        """The folders that the run writes to, which are this object's from here on."""
        limit = self._plan.limit(Control.WRITTEN, Mechanism.WATCHER)
        self._disk = DiskCount(folders, None if limit is None else int(limit))
        self._look_again_at = self._clock() + self.pause

    def check(self) -> Exceeded | None:
        """The limit that the run has gone over; from then on always the same.

        May be called as often as one likes; it looks when the pause is over.
        """
        if self._exceeded is None and self._clock() >= self._look_again_at:
            self._look()
            self._look_again_at = self._clock() + self.pause
        return self._exceeded

    def _look(self) -> None:
        if self._watcher is not None:
            self._usage = self._usage.joined(self._watcher.sample())
        if self._group is not None:
            self._usage = self._usage.joined(self._group.usage())
        self._exceeded = self._exceeded or self._over()
        if self._exceeded is None and self._disk is not None:
            self._exceeded = self._over_on_disk(self._disk.sample(self._pid, self._store))

    def _over(self) -> Exceeded | None:
        used = self._usage
        memory = self._plan.limit(Control.MEMORY)
        if used.kills and memory is not None:
            return Exceeded(Control.MEMORY, memory, max(memory, used.memory_bytes))
        for control, seen in (
            (Control.MEMORY, used.memory_bytes),
            (Control.PROCESSES, used.processes),
        ):
            limit = self._plan.limit(control, Mechanism.WATCHER)
            if limit is not None and seen > limit:
                return Exceeded(control, limit, seen)
        limit = self._plan.limit(Control.CPU)
        if limit is not None and used.cpu_seconds >= limit:
            return Exceeded(Control.CPU, limit, used.cpu_seconds)
        return None

    def _over_on_disk(self, seen: int | None) -> Exceeded | None:
        limit = self._plan.limit(Control.WRITTEN, Mechanism.WATCHER)
        return None if limit is None or seen is None else Exceeded(Control.WRITTEN, limit, seen)

    def outcome(self, status: int | None, seconds: float, peak_bytes: int = 0) -> LimitOutcome:
        """When the box has ended: with what its first process told of it.

        Args:
            status: the program's, negative when a signal ended it; None when it is not known.
            seconds: the processor time of everything that was waited for.
            peak_bytes: the most memory that one process had, shared or not.
        """
        self._usage = self._usage.joined(Usage(cpu_seconds=seconds))
        self._look()
        if self._exceeded is None and self._disk is not None:
            self._exceeded = self._over_on_disk(self._disk.last(self._store))
        if self._exceeded is None and status is not None and -status in _SIGNALS:
            control = _SIGNALS[signal.Signals(-status)]
            limit = self._plan.limit(control)
            if limit is None and control is Control.FILE:
                control = Control.WRITTEN  # one file was to be longer than all may be together
                limit = self._plan.limit(control, Mechanism.WATCHER)
            if limit is not None:
                self._exceeded = Exceeded(control, limit, limit)
        # Only now: with what it shares, one process may have seemed to have more than all have.
        self._usage = self._usage.joined(Usage(memory_bytes=peak_bytes))
        return LimitOutcome(self._usage, self._exceeded)

    def close(self) -> None:
        """Ends what is left in the run's groups, and removes them."""
        if self._store is not None:
            os.close(self._store)
            self._store = None
        if self._disk is not None:
            self._disk.close()
            self._disk = None
        if self._stock is not None:
            if self._is_supplied:
                self._stock.ended(self._group)
            self._is_supplied = False
        elif self._group is not None and not self._group.remove():
            self._group.kill()
            self._group.remove()
        self._group = None


def _no_group(problem: OSError) -> Refused:
    return Refused(Code.ENGINE_FAILED, f"no control group for the run: {problem}")
