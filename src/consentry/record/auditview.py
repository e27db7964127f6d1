"""The audit entry of a run together with what became of its effect afterwards (CONSENT §audit).

An entry is written when the run ends and is never edited. Where its writes were kept for a second yes,
or for `consentry commit`, what became of them stands in later events. This puts the two together:

- committed: `impact.committed` is true, and `user.commitTimestamp` is the moment of the decision;
- refused, denied or in conflict: `execution.status` is `discarded`, and `impact.discarded` says why;
- not committed while it was kept: the same, because nobody can commit it any more;
- undone after a commit: it stays committed, and `impact.undoneTimestamp` says when it was taken back.

A run that was ended by a limit, a time-out or a signal keeps that status. A conflict or a refusal may be
followed by a commit that succeeds; then that is what counts. Pure: events and the present go in.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from consentry.base.clock import Instant
from consentry.base.values import dataclass, replace
from consentry.record.auditfields import ExecutionStatus
from consentry.record.events import EventType

ROOT: Final = "auditEntry"
"""The key under which an entry is handed out."""

EFFECT_EVENTS: Final = (EventType.EFFECT_DECIDED, EventType.EFFECT_SETTLED)

_ENDED_BY_ITSELF: Final = frozenset({ExecutionStatus.SUCCESS, ExecutionStatus.FAILURE})
_ORDER: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("id", "timestamp", "tool", "user", "execution", "impact", "sandbox", "context"),
    "tool": ("name", "version"),
    "user": ("id", "consentGiven", "consentTimestamp", "consentMethod", "commitTimestamp"),
    "execution": ("startTime", "endTime", "status", "exitCode"),
    "impact": ("filesRead", "filesWritten", "filesDeleted", "committed", "discarded"),
    "sandbox": ("profile", "violations", "resourceUsage"),
    "context": ("workflowId", "sessionId", "triggeredBy"),
    "file": ("path", "hash", "size"),
    "resourceUsage": ("cpuTime", "memoryPeak"),
}


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one effect; `why` is there where it did not arrive, or not for good."""

    committed_at: str | None = None
    undone_at: str | None = None
    why: str | None = None


class Fates:
    """What became of effects, by the permits of their runs; grows with the number of effects alone."""

    def __init__(self, events: Iterable[Mapping[str, Any]] = ()) -> None:
        self._decided: dict[str, str] = {}
        self._fates: dict[str, Fate] = {}
        for event in events:
            self.add(event)

    def add(self, event: Mapping[str, Any]) -> None:
        """The next event in the order of the ledger; others than those of effects say nothing here."""
        payload = event["payload"]
        if event["type"] == EventType.EFFECT_DECIDED:
            self._decided[str(event["eventId"])] = str(event["timestampUtc"])
        elif event["type"] == EventType.EFFECT_SETTLED:
            at = self._decided.pop(str(payload["decisionEventId"]), str(event["timestampUtc"]))
            permit = str(payload["permitId"])
            self._fates[permit] = _after(self._fates.get(permit, Fate()), payload, at)

    def of(self, permit_id: object) -> Fate | None:
        """None where nothing was done with it."""
        return self._fates.get(str(permit_id))


def _after(before: Fate, payload: Mapping[str, Any], at: str) -> Fate:
    match payload["action"], payload["outcome"]:
        case _, "committed":
            return Fate(committed_at=at)
        case _, "undone":
            return replace(before, undone_at=at)
        case _, "discarded":
            return Fate(why=before.why or "it was discarded")
        case "commit", _ if before.committed_at is None:
            return Fate(why=_why_not(payload))
        case _:
            return before


def _why_not(payload: Mapping[str, Any]) -> str:
    if payload.get("why"):
        return str(payload["why"])
    found = payload.get("conflicts") or ()
    paths = ", ".join(f"`{each['path']}`" for each in found[:3])
    more = f", and {len(found) - 3} more" if len(found) > 3 else ""  # noqa: PLR2004 - as many as are named
    return f"somebody else changed the same files: {paths}{more}" if found else "it was refused"


def final_entry(entry: Mapping[str, Any], fate: Fate | None, now: Instant) -> dict[str, Any]:
    """The entry as it is to be read now, its keys in the order of the document."""
    user, impact, execution = (dict(entry[name]) for name in ("user", "impact", "execution"))
    if fate is None:
        fate = _lapsed(impact, now)
    if fate is not None and fate.committed_at is not None:
        user["commitTimestamp"] = fate.committed_at
        impact |= {"committed": True, "discarded": None}
        if fate.undone_at is not None:
            impact["undoneTimestamp"] = fate.undone_at
    elif fate is not None and fate.undone_at is not None:
        impact["undoneTimestamp"] = fate.undone_at
    elif fate is not None:
        impact |= {"committed": False, "discarded": fate.why}
        if execution["status"] in _ENDED_BY_ITSELF:
            execution["status"] = ExecutionStatus.DISCARDED.value
    return in_order({**entry, "user": user, "impact": impact, "execution": execution})


def _lapsed(impact: Mapping[str, Any], now: Instant) -> Fate | None:
    """Of an effect that was kept so long, and no longer."""
    rehearsal = impact.get("rehearsal")
    if rehearsal is None or Instant.parse(str(rehearsal["keptUntil"])) >= now:
        return None
    return Fate(why="it was not committed while it was kept")


def in_order(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The same entry with the keys in the order of the document; what it adds comes behind."""
    found = _sorted("", entry)
    for name in ("tool", "user", "execution", "impact", "sandbox", "context"):
        found[name] = _sorted(name, found[name])
    for name in ("filesRead", "filesWritten", "filesDeleted"):
        files = found["impact"][name]
        found["impact"][name] = [
            _sorted("file", each) if isinstance(each, Mapping) else each for each in files
        ]
    usage = found["sandbox"]["resourceUsage"]
    found["sandbox"]["resourceUsage"] = _sorted("resourceUsage", usage)
    return found


def _sorted(name: str, part: Mapping[str, Any]) -> dict[str, Any]:
    first = {key: part[key] for key in _ORDER[name] if key in part}
    return {**first, **{key: part[key] for key in sorted(part) if key not in first}}
