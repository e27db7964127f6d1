"""What a sign-off counts of violations of the capability policy, and of what was done about them.

`S-SLO-3` wants none (MODULES §metric-violation). One that happened in real use stays a reason for NO-GO until somebody records
its root cause and what was done, in an event that comes after it: also when the violation is older than
the window, and also when the window is over by then. One action may leave two such events, the check that
rejected it and the roll-back; each is a violation. The first resolution of one counts.
"""

from typing import Final

from consentry.base.canonical import Json
from consentry.record.signoffevents import Evidence
from consentry.record.signoffgates import Counts, Gate, Samples, count_gate
from consentry.record.signoffstates import State, States

MOST_VIOLATIONS: Final = 200
"""How many are listed; those that nobody resolved first."""

_SHOWN: Final = ("moduleId", "moduleVersion", "capabilityId", "actionId", "transactionId")
_RESOLVED: Final = ("violationEventId", "rootCause", "correctiveAction", "resolvedBy", "resolvedAt")


class ViolationTally:
    """Counts violations; the gate and the lists come of one walk over them."""

    def __init__(self, violations: States) -> None:
        self._violations = violations

    def add(self, event_id: str, at: str, kind: str, payload: State, *, in_window: bool) -> None:
        """The next violation, in the window or before it."""
        if self._violations.get(event_id) is None:
            shown = {name: payload.get(name) for name in _SHOWN}
            state = {"at": at, "type": kind, **shown, "inWindow": in_window, "resolution": None}
            self._violations.put(event_id, state)

    def resolve(self, event: Evidence) -> None:
        """A resolution; of a violation that did not come before it nothing is resolved."""
        found = self._violations.get(str(event.payload["violationEventId"]))
        if found is not None and found["resolution"] is None:
            given = {name: event.payload[name] for name in _RESOLVED}
            found["resolution"] = {"eventId": event.event_id, **given}
            self._violations.put(str(event.payload["violationEventId"]), found)

    def finished(self) -> "Violations":
        """The gate, and what is listed beside it."""
        samples = Samples()
        standing: list[dict[str, Json]] = []
        resolved: list[dict[str, Json]] = []
        counted = 0
        for event_id, each in self._violations.pairs():
            resolution = each["resolution"]
            if resolution is not None and not each["inWindow"]:
                continue
            counted += 1
            about = str(each["moduleId"])
            if resolution is None:
                when = "" if each["inWindow"] else ", from before the window"
                samples.add(event_id, about, Counts.AGAINST, f"nobody has resolved it{when}")
            else:
                samples.add(event_id, about, Counts.FOR, f"resolved by {resolution['eventId']}")
            kept = standing if resolution is None else resolved
            if len(kept) < MOST_VIOLATIONS:
                kept.append({"eventId": event_id, **each})
        listed = [*standing, *resolved][:MOST_VIOLATIONS]
        return Violations(
            count_gate(
                "S-SLO-3",
                "capability-policy-violation events with a moduleId on prod_traffic",
                "0, or each resolved",
                samples,
            ),
            listed,
            counted - len(listed),
        )


class Violations:
    """The gate, the violations that are listed, and how many are not."""

    def __init__(self, gate: Gate, listed: list[dict[str, Json]], left_out: int) -> None:
        self.gate = gate
        self.left_out = left_out
        self.listed: list[dict[str, Json]] = []
        self.resolutions: list[dict[str, Json]] = []
        for each in listed:
            resolution = each["resolution"]
            if isinstance(resolution, dict):
                self.resolutions.append(resolution)
                self.listed.append({**each, "resolution": resolution["eventId"]})
            else:
                self.listed.append(each)
