"""How long a tool took before: the estimate that its next preview shows.

From the audit entries of its latest runs that were a success, whatever their arguments: the times at
which they started and ended. A run that failed early would make the next one look shorter than it is.
Only so many entries are looked at; a tool that has hardly ever succeeded lately has no estimate.
"""

import math
from collections.abc import Sequence
from typing import Final

from consentry.base.clock import Instant
from consentry.base.units import Duration
from consentry.decide.previewparts import Estimate
from consentry.record.auditfields import ExecutionStatus
from consentry.record.events import EventType
from consentry.service.audit import whole_event
from consentry.service.rundecision import TOOL
from consentry.store.history import EventFilter, History

MOST_RUNS: Final = 20

_LOOKED_AT: Final = 100
_HALF, _NINE_IN_TEN = 0.5, 0.9


def estimate_of(history: History | None, tool: str) -> Estimate | None:
    """Half of its latest successful runs took no longer than the first, nine in ten the second."""
    taken = sorted(durations_of(history, tool), key=lambda each: each.milliseconds)
    if not taken:
        return None
    return Estimate(_rank(taken, _HALF), _rank(taken, _NINE_IN_TEN), len(taken))


def durations_of(history: History | None, tool: str) -> Sequence[Duration]:
    """How long its latest successful runs took, newest first."""
    if history is None:
        return ()
    wanted = EventFilter(subject=f"{TOOL}:{tool}", type=EventType.TOOL_AUDIT.value)
    found: list[Duration] = []
    for row in reversed(history.latest(wanted, _LOOKED_AT)):
        entry = whole_event(row)["payload"]
        execution = entry["execution"] if isinstance(entry, dict) else {}
        if execution.get("status") == ExecutionStatus.SUCCESS and len(found) < MOST_RUNS:
            started, ended = (Instant.parse(execution[key]) for key in ("startTime", "endTime"))
            found.append(Duration(max(0, ended.unix_ms - started.unix_ms)))
    return tuple(found)


def _rank(taken: Sequence[Duration], share: float) -> Duration:
    """The shortest one that is no shorter than this share of them."""
    return taken[math.ceil(share * len(taken)) - 1]
