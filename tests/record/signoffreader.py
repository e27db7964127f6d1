"""A sign-off written once more, as plainly as can be: lists of raw events, read over and over again.

It shares no code with the product and remembers nothing between two questions. What is asked of an event is
written out here from the documents, so that a slip in a table of the product is found, too.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

Event = dict[str, Any]

VIOLATING = (
    "capability.check.rejected",
    "capability.rollback.executed",
    "capability.rollback.failed",
)
READ = (
    *VIOLATING, "capability.escalation.requested", "capability.escalation.approved",
    "capability.escalation.denied", "transaction.transition", "transaction.resolved",
    "module.capability.used", "module.action.ended", "certification.checked", "signoff.resolved",
)  # fmt: skip
KNOWN = (*READ, "machine.registered", "ledger.archived")
STEPS = {
    "RECEIVED": ("PREVIEWING",),
    "PREVIEWING": ("PREVIEW_READY", "FAILED_PRE_APPLY"),
    "PREVIEW_READY": ("APPROVAL_PENDING",),
    "APPROVAL_PENDING": ("APPROVED", "REJECTED", "FAILED_PRE_APPLY"),
    "APPROVED": ("APPLYING",),
    "APPLYING": ("APPLIED", "FAILED_PRE_APPLY", "RECOVERY_PENDING"),
    "APPLIED": ("ROLLBACK_PENDING",),
    "ROLLBACK_PENDING": ("ROLLED_BACK", "RECOVERY_PENDING", "FAILED_TERMINAL"),
    "FAILED_PRE_APPLY": ("PREVIEWING", "REJECTED"),
    "RECOVERY_PENDING": ("APPLIED", "ROLLED_BACK", "APPROVED", "FAILED_TERMINAL"),
}
NEEDED = {
    "transaction.transition": ("txId", "attemptNo", "approvalRequired", "previewHash", "error"),
    "capability.escalation.approved": ("moduleId", "capabilityId"),
    "capability.check.rejected": ("moduleId", "grantVersion"),
    "module.capability.used": ("actionRunId", "grantId"),
    "certification.checked": ("answers", "caseKind"),
    "signoff.resolved": ("violationEventId", "rootCause"),
}
"""Of the fields that each type must have those that histories here are made without."""


class Reader:
    """Answers about a history whose events are already in the order of time."""

    def __init__(self, events: list[Event], since: str, until: str) -> None:
        self.all = events
        self.since, self.until = since, until
        self.good = [event for event in events if is_readable(event)]
        self.window = [event for event in self.good if self.is_inside(event)]

    def is_inside(self, event: Event) -> bool:
        """Whether the event lies in the window."""
        return bool(self.since <= event["timestampUtc"] < self.until)

    def of(self, *kinds: str) -> list[Event]:
        """The events of the window of these types."""
        return [event for event in self.window if event["type"] in kinds]

    # Certification

    def imports(self) -> tuple[int, int]:
        """Valid packages that imported, and all tries."""
        checks = [e["payload"] for e in self.of("certification.checked")]
        valid = [each for each in checks if each["caseKind"] == "valid"]
        return sum(each["answers"][0]["code"] == "imported" for each in valid), len(valid)

    def stable(self) -> tuple[int, int]:
        """Invalid fixtures that answer alike, and all."""
        return self._cases("invalid", self._is_stable)

    def actions(self) -> tuple[int, int]:
        """Actions whose control fields are all valid, and all."""
        return self._cases("action", lambda checks: all(
            value is True for check in checks for value in check["controlFields"].values()
        ))  # fmt: skip

    def _cases(self, kind: str, is_good: Any) -> tuple[int, int]:
        checks = [e["payload"] for e in self.of("certification.checked")]
        mine = [each for each in checks if each["caseKind"] == kind]
        names = {(each["corpusVersion"], each["caseId"]) for each in mine}
        good = 0
        for name in names:
            good += is_good([c for c in mine if (c["corpusVersion"], c["caseId"]) == name])
        return good, len(names)

    @staticmethod
    def _is_stable(checks: list[Event]) -> bool:
        expected = {(c["expectedCode"], c["expectedPath"]) for c in checks}
        answered = {(a["code"], a["path"]) for c in checks for a in c["answers"]}
        return len(expected) == 1 and answered == expected and all(len(c["answers"]) > 1 for c in checks)  # fmt: skip

    # Transactions

    def attempts(self) -> list[tuple[str, int]]:
        """Every attempt of which a step lies in the window."""
        steps = [e["payload"] for e in self.of("transaction.transition")]
        return sorted({(each["txId"], each["attemptNo"]) for each in steps})

    def steps(self, attempt: tuple[str, int]) -> list[Event]:
        """Its steps in the window."""
        found = self.of("transaction.transition")
        return [e for e in found if (e["payload"]["txId"], e["payload"]["attemptNo"]) == attempt]

    def entered(self, attempt: tuple[str, int], state: str) -> bool:
        """Whether it came into that state in the window."""
        return any(e["payload"]["nextState"] == state for e in self.steps(attempt))

    def needs(self, attempt: tuple[str, int]) -> bool:
        """Whether any of its steps says that it needs an approval."""
        return any(e["payload"]["approvalRequired"] for e in self.steps(attempt))

    def settled(self, *, real: bool = False) -> tuple[int, int, int]:
        """Good, counted, open; of all attempts, or of those of real use."""
        good = bad = still = 0
        for attempt in self.attempts():
            if real and all(is_made(event) for event in self.steps(attempt)):
                continue
            if not self.entered(attempt, "APPROVAL_PENDING"):
                continue
            moves = [(e["payload"]["prevState"], e["payload"]["nextState"]) for e in self.steps(attempt)]  # fmt: skip
            reached = {following for _, following in moves}
            recovery = [move for move in moves if "RECOVERY_PENDING" in move]
            if reached & {"APPLIED", "REJECTED"}:
                good += 1
            elif reached & {"FAILED_PRE_APPLY", "FAILED_TERMINAL", "ROLLED_BACK"} or (
                recovery and recovery[-1][1] == "RECOVERY_PENDING"
            ):
                bad += 1
            else:
                still += 1
        return good, good + bad, still

    def terminals(self) -> int:
        """How many attempts ended as FAILED_TERMINAL."""
        return sum(self.entered(attempt, "FAILED_TERMINAL") for attempt in self.attempts())

    def bound(self) -> tuple[int, int]:
        """Applied attempts that were approved as they were applied, and all."""
        applied = [
            attempt
            for attempt in self.attempts()
            if (self.entered(attempt, "APPLYING") or self._is_out_of_nothing(attempt))
            and self.needs(attempt)
            and not self._was_refused(attempt)
        ]
        return sum(self._is_bound(attempt) for attempt in applied), len(applied)

    def _was_refused(self, attempt: tuple[str, int]) -> bool:
        wrote = ("APPLIED", "ROLLED_BACK", "RECOVERY_PENDING", "FAILED_TERMINAL")
        is_refused = self.entered(attempt, "FAILED_PRE_APPLY")
        return is_refused and not any(self.entered(attempt, state) for state in wrote)

    def _is_out_of_nothing(self, attempt: tuple[str, int]) -> bool:
        """Whether its apply ended before any beginning of it, or any approval, was recorded."""
        for event in self.steps(attempt):
            step = event["payload"]
            if step["nextState"] == "APPLYING":
                return False
            if (step["prevState"], step["nextState"]) == ("APPLYING", "APPLIED"):
                return not self._approvals(attempt, event)
        return False

    def _approvals(self, attempt: tuple[str, int], until: Event) -> list[Event]:
        """What was said by a person who may, before that event."""
        steps = [
            each["payload"]
            for each in self.good[: self.good.index(until)]
            if each["type"] == "transaction.transition"
            and (each["payload"]["txId"], each["payload"]["attemptNo"]) == attempt
            and each["payload"]["nextState"] == "APPROVED"
        ]
        return [
            step["approval"]
            for step in steps
            if step["approval"] is not None
            and step["approval"]["decision"] == "approved"
            and not (
                step["approvalRequired"]
                and step["approval"]["approverRole"] in ("system", "viewer")
            )
        ]

    def _is_bound(self, attempt: tuple[str, int]) -> bool:
        if self._is_out_of_nothing(attempt):
            return False
        for event in self.steps(attempt):
            if event["payload"]["nextState"] == "APPLYING" and not any(
                self._fits(each, event) for each in self._approvals(attempt, event)
            ):
                return False
        return True

    @staticmethod
    def _fits(approval: Event, applying: Event) -> bool:
        step = applying["payload"]
        names = ("txId", "attemptNo", "previewHash", "baseRevision")
        age = millis(applying["timestampUtc"]) - millis(approval["decisionAt"])
        is_same = [approval[name] for name in names] == [step[name] for name in names]
        return is_same and 0 <= age <= 1000 * approval["approvalTtlSeconds"]

    def episodes(self) -> list[tuple[str, int]]:
        """Attempts whose roll-back began in the window."""
        return [a for a in self.attempts() if any(begins(e["payload"]) for e in self.steps(a))]

    def rolled_back(self) -> tuple[int, int]:
        """Those that were rolled back, and all."""
        found = self.episodes()
        return sum(self.entered(attempt, "ROLLED_BACK") for attempt in found), len(found)

    def partial(self) -> list[tuple[str, int]]:
        """Episodes after writes had begun."""
        found = []
        for attempt in self.episodes():
            steps = [e["payload"] for e in self.steps(attempt)]
            first = min(at for at, step in enumerate(steps) if begins(step))
            if any(step["afterPartialApply"] for step in steps[first:]):
                found.append(attempt)
        return found

    def waited(self) -> list[tuple[str, int]]:
        """Attempts that waited for an approval that they need."""
        return [a for a in self.attempts() if self.entered(a, "APPROVAL_PENDING") and self.needs(a)]

    # Modules

    def violations(self) -> dict[str, bool]:
        """By id, whether it is resolved; those from before the window that are, are no matter."""
        found = {}
        for at, event in enumerate(self.all):
            payload = event.get("payload")
            if event.get("type") not in VIOLATING or not isinstance(payload, dict):
                continue
            if event.get("evidenceChannel") == "controlled_fixture" or not payload.get("moduleId"):
                continue
            if payload.get("decisionReasonCode") != "capability-policy-violation":
                continue
            if event["timestampUtc"] >= self.until:
                continue
            is_resolved = any(
                later["type"] == "signoff.resolved"
                and is_readable(later)
                and later["payload"]["violationEventId"] == event["eventId"]
                for later in self.all[at + 1 :]
            )
            if self.is_inside(event) or not is_resolved:
                found[event["eventId"]] = is_resolved
        return found

    def runs(self) -> dict[str, list[Event]]:
        """The uses of every run of an action."""
        found: dict[str, list[Event]] = {}
        for event in self.of("module.capability.used"):
            found.setdefault(event["payload"]["actionRunId"], []).append(event)
        return found

    def approved_runs(self) -> tuple[int, int]:
        """Runs whose every use was approved before, and all."""
        names = ("moduleId", "moduleVersion", "capabilityId")
        good = 0
        for uses in self.runs().values():
            good += all(
                any(
                    e["type"] == "capability.escalation.approved"
                    and all(e["payload"][name] == use["payload"][name] for name in names)
                    and (is_made(use) or not is_made(e))
                    for e in self.good[: self.good.index(use)]
                )
                for use in uses
            )
        return good, len(self.runs())

    def undone(self) -> tuple[int, int]:
        """Roll-backs that were executed, and all."""
        executed = len(self.of("capability.rollback.executed"))
        return executed, executed + len(self.of("capability.rollback.failed"))

    def sessions(self) -> dict[str, list[Event]]:
        """The events that make a session one of a module."""
        found: dict[str, list[Event]] = {}
        for event in self.of("module.action.ended", "module.capability.used"):
            is_use = event["type"] == "module.capability.used"
            if event["sessionId"] and not (is_use and event["payload"]["actionId"] is None):
                found.setdefault(event["sessionId"], []).append(event)
        return found

    # The whole

    def floors(self) -> dict[str, tuple[int, int]]:
        """How many samples, and how many of them were fixtures and nothing else."""
        by_attempt = {attempt: self.steps(attempt) for attempt in self.attempts()}
        return {
            "sessions": fixtures(self.sessions().values()),
            "approvals": fixtures(self.runs().values()),
            "transactions": fixtures(by_attempt[a] for a in self.waited()),
            "rollbacks": fixtures(by_attempt[a] for a in self.episodes()),
            "rollbacks-after-partial": fixtures(by_attempt[a] for a in self.partial()),
        }

    def failures(self) -> list[tuple[str, str]]:
        """What is wrong with which event."""
        found = []
        for event in self.all:
            if not self.is_inside(event):
                continue
            if event["type"] not in KNOWN:
                found.append(("unreadable", event["eventId"]))
            elif event["type"] in READ:
                if wrong_tags(event) is not None:
                    found.append((str(wrong_tags(event)), event["eventId"]))
                if not is_readable(event):
                    found.append(("unreadable", event["eventId"]))
        return sorted(found)

    def is_go(self) -> bool:
        """The verdict."""
        good, total, _ = self.settled()
        good_real, total_real, _ = self.settled(real=True)
        whole = (
            self.imports(), self.stable(), self.actions(), self.bound(), self.rolled_back(),
            self.approved_runs(), self.undone(),
        )  # fmt: skip
        least = {"sessions": 30, "approvals": 20, "transactions": 40, "rollbacks": 10,
                 "rollbacks-after-partial": 3}  # fmt: skip
        return (
            all(part == all_ and all_ > 0 for part, all_ in whole)
            and total > 0
            and good / total >= 0.995
            and good_real >= 0.995 * total_real
            and self.terminals() == 0
            and all(self.violations().values())
            and all(self.floors()[name][0] >= number for name, number in least.items())
            and not self.failures()
        )


def begins(step: Event) -> bool:
    """Whether a roll-back begins with it."""
    if step["nextState"] == "ROLLBACK_PENDING":
        return True
    code = (step["error"] or {}).get("code")
    return bool(step["nextState"] == "RECOVERY_PENDING" and code == "capability-policy-violation")


def is_readable(event: Event) -> bool:
    """Whether it is an event of its type, as far as histories here are spoiled."""
    payload, kind = event.get("payload"), event.get("type")
    if kind not in KNOWN or not isinstance(payload, dict):
        return False
    if any(name not in payload for name in NEEDED.get(str(kind), ())):
        return False
    if kind != "transaction.transition":
        return True
    previous, following = payload["prevState"], payload["nextState"]
    if following not in STEPS.get(previous, ()):
        return False
    if previous == "RECEIVED" and payload["attemptNo"] != 1:
        return False
    if (previous, following) == ("FAILED_PRE_APPLY", "PREVIEWING") and payload["attemptNo"] == 1:
        return False
    if following == "APPLYING":
        approval = payload["approval"]
        names = ("txId", "attemptNo", "previewHash", "baseRevision")
        return approval is not None and all(approval[name] == payload[name] for name in names)
    return True


def is_made(event: Event) -> bool:
    """Whether it says that it is a fixture's."""
    return bool(event.get("evidenceChannel") == "controlled_fixture")


def wrong_tags(event: Event) -> str | None:
    """What is wrong with the tags of an event."""
    channel = event.get("evidenceChannel")
    tags = [event.get(name) for name in ("fixtureRunId", "fixtureCaseId", "expectedOutcome")]
    if channel == "prod_traffic":
        is_marked = any(tag is not None for tag in (*tags, event.get("drillId")))
        return "mislabelled" if is_marked else None
    if channel != "controlled_fixture" or not all(tags):
        return "missing-tag"
    is_drill = str(event["fixtureRunId"]).startswith("drill")
    return "missing-tag" if is_drill and not event.get("drillId") else None


def fixtures(samples: Iterable[list[Event]]) -> tuple[int, int]:
    """How many there are, and how many have fixtures' events only."""
    found = list(samples)
    only = [all(e.get("evidenceChannel") == "controlled_fixture" for e in each) for each in found]
    return len(found), sum(only)


def millis(text: str) -> int:
    """A time as a number, without the product's own reader."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)
