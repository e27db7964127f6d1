"""How a run of this engine ended: which limit it met, what it used, or why no box was built."""

import os
from collections.abc import Iterator
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.engine import Control, Ending, Held, Usage
from consentry.enforce.holding import HeldLimits, LimitOutcome
from consentry.enforce.limits import LimitPlan
from consentry.enforce.native.notbuilt import LostSight, NotBuilt
from consentry.enforce.native.parent import GONE
from consentry.enforce.native.supervisor import Supervised
from consentry.enforce.running import Ended, RunningBox
from consentry.enforce.usage import Control as Limited
from consentry.enforce.violations import Truth

LIMITED: Final = {
    Limited.CPU: Control.CPU,
    Limited.MEMORY: Control.MEMORY,
    Limited.PROCESSES: Control.PROCESSES,
    Limited.FILE: Control.FILE_SIZE,
    Limited.WRITTEN: Control.WRITTEN,
    Limited.OUTPUT: Control.OUTPUT,
    Limited.WALL: Control.WALL_TIME,
    Limited.DESCRIPTORS: Control.DESCRIPTORS,
}

_UNTIL_STARTED: Final = 0.02


class LimitWatch:
    """Tells the holder of the limits of each thing that it can look at, and asks it."""

    def __init__(
        self, running: RunningBox, held: HeldLimits, *, counts_first: bool = False
    ) -> None:
        self._running = running
        self._counts_first = counts_first
        self._held = held
        self._is_watched = self._is_counted = False

    def pause(self) -> float:
        """Seconds until there is something to look at."""
        # Once it is known to have started, what there is to look at is.
        return self._held.pause if self._is_watched else _UNTIL_STARTED

    def exceeded(self) -> str | None:
        """The limit that the run went over."""
        if self._running.pid is not None and not self._is_watched:
            self._is_watched = True
            self._held.started_in(self._running.group)
            self._held.watch(self._running.pid, counts_first=self._counts_first)
        store = self._running.store
        if store is not None and self._is_watched and not self._is_counted:
            self._is_counted = True
            self._held.count_store(store)
        found = self._held.check()
        return None if found is None else found.control.value


def usage_of(limited: LimitOutcome) -> Usage:
    """What it used, vouched for by the weakest of its sources."""
    used = limited.usage
    truths = list(Truth)
    weakest = max(used.cpu_truth, used.memory_truth, key=truths.index)
    return Usage(used.cpu_seconds, used.memory_bytes, used.processes or None, weakest)


def held_limits(limits: LimitPlan) -> Iterator[Held]:
    """The limits that were set, each with what held it."""
    for each in limits.controls:
        if each.limit is not None:
            yield Held(LIMITED[each.control], f"{each.mechanism}: {each.limit:.0f}", each.truth)


def ending_of(supervised: Supervised, limit: str | None) -> Ending:
    """How it ended, seen from outside."""
    status = supervised.ended.status
    if supervised.timed_out:
        return Ending.TIMEOUT
    if limit is not None:
        return Ending.LIMIT
    if status is None or status < 0 or (status != 0 and supervised.was_told_to_end):
        return Ending.KILLED
    return Ending.SUCCESS if status == 0 else Ending.FAILURE


def require_built(ended: Ended) -> None:
    """Raises where there was no box, with why, or where nobody can say what became of it."""
    if ended.problem is None:
        return
    what, number, detail = ended.problem
    if ended.layer is not None:
        os.close(ended.layer)  # one in memory, whatever it was to be
    if what == "replaced":
        message = f"`{detail}` is not the file it was a moment ago, so nothing was started"
        raise Refused(Code.FILESYSTEM_RACE, message)
    if what == GONE:
        raise LostSight
    if what == "program":
        raise Refused(Code.PROGRAM_UNSTARTABLE, f"`{detail}`: {os.strerror(number).lower()}")
    raise NotBuilt(detail, number)
