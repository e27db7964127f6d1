"""Histories for tests of sign-off: raw events as a database holds them, also such as no ledger would take.

A story is a list of events as JSON, by several writers, each with a chain. Times are minutes from the
beginning of the window, which is an hour long; a minute below zero lies before it.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from consentry.base.canonical import canonical_json
from consentry.base.clock import Instant
from consentry.base.units import Duration
from consentry.record.chain import ChainRow
from consentry.record.envelope import GENESIS, hash_of
from consentry.record.signoff import SignoffAnswer, SignoffFold, SignoffWindow
from tests.record.modulepayloads import DIGEST, USER, sample_id

SINCE = Instant(1_767_225_600_000)
HOUR = 60
WINDOW = SignoffWindow.ending(SINCE.plus(Duration.parse("1h")), Duration.parse("1h"))
WRITERS = tuple(f"machine-{digit * 32}" for digit in "123")
OTHER_DIGEST = "sha256:" + "6" * 64
PROD = {"evidenceChannel": "prod_traffic"}
FIXTURE = {
    "evidenceChannel": "controlled_fixture",
    "fixtureRunId": "certification-1",
    "fixtureCaseId": "case-1",
    "expectedOutcome": "APPLIED",
}
DRILL = {**FIXTURE, "fixtureRunId": "drill-1", "drillId": "drill-1"}
TAGS = ("evidenceChannel", "fixtureRunId", "fixtureCaseId", "expectedOutcome", "drillId")
VIOLATION = "capability-policy-violation"
APPLIED = (
    ("RECEIVED", "PREVIEWING"),
    ("PREVIEWING", "PREVIEW_READY"),
    ("PREVIEW_READY", "APPROVAL_PENDING"),
    ("APPROVAL_PENDING", "APPROVED"),
    ("APPROVED", "APPLYING"),
    ("APPLYING", "APPLIED"),
)
"""The steps of an attempt that is applied."""
ROLLED_BACK = (*APPLIED, ("APPLIED", "ROLLBACK_PENDING"), ("ROLLBACK_PENDING", "ROLLED_BACK"))
UNDONE = (*APPLIED[:5], ("APPLYING", "RECOVERY_PENDING"), ("RECOVERY_PENDING", "ROLLED_BACK"))
"""The same with a violation in the middle."""


def time_at(minute: float) -> str:
    """So many minutes after the beginning of the window."""
    return str(Instant(SINCE.unix_ms + round(minute * 60_000)))


class Story:
    """Events as they lie in a ledger, in the order in which they were recorded."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._numbers = count(1)

    def add(
        self,
        kind: str,
        payload: Mapping[str, Any],
        minute: float = 1,
        *,
        writer: int = 0,
        tags: Mapping[str, Any] = PROD,
        session: str | None = None,
    ) -> str:
        """The next event; its id. Where its type repeats id and time, it does."""
        event_id, at = sample_id("event", next(self._numbers)), time_at(minute)
        repeated: dict[str, str] = {}
        if kind.startswith("capability."):
            repeated = {"eventId": event_id, "timestampUtc": at}
        elif kind == "transaction.transition":
            repeated = {"timestamp": at}
        self.events.append(
            {
                "actor": USER,
                "eventId": event_id,
                "machineId": WRITERS[writer],
                "payload": {**payload, **repeated},
                "policyHash": None,
                "schemaVersion": 1,
                "sessionId": session,
                "subject": "sample:signoff",
                "timestampUtc": at,
                "type": kind,
                "workflowId": None,
                "writer": WRITERS[writer],
                **dict.fromkeys(TAGS),
                **tags,
            }
        )
        return event_id

    def rows(self) -> list[ChainRow]:
        """Every event in its writer's chain, in the order in which a ledger is read: by time."""
        chained = zip(self.events, chained_rows(self.events), strict=True)
        placed = [(_time_of(event), row.writer, row.seq, row) for event, row in chained]
        return [row for *_, row in sorted(placed, key=lambda each: each[:3])]

    def rows_as_recorded(self) -> list[ChainRow]:
        """The same in the order in which they were recorded."""
        return chained_rows(self.events)

    def answer(self, window: SignoffWindow = WINDOW) -> SignoffAnswer:
        """What the fold makes of it."""
        fold = SignoffFold(window)
        for row in self.rows():
            fold.add(row)
        return fold.answer()

    def step(
        self, tx_id: str, previous: str, following: str, minute: float = 1, **changes: Any
    ) -> str:
        """One step of an attempt; `writer` and `tags` are the event's own."""
        own = {name: changes.pop(name) for name in ("writer", "tags") if name in changes}
        return self.add(
            "transaction.transition", step_payload(tx_id, previous, following, **changes),
            minute, **own,
        )  # fmt: skip

    def attempt(
        self,
        tx_id: str,
        steps: Sequence[tuple[str, str]] = APPLIED,
        minute: float = 1,
        **changes: Any,
    ) -> list[str]:
        """An attempt, one step a second; the ids of its events."""
        found = []
        for number, (previous, following) in enumerate(steps):
            more = dict(changes)
            if following == "RECOVERY_PENDING":
                more.setdefault("error", error_of(VIOLATION))
            found.append(self.step(tx_id, previous, following, minute + number / 60, **more))
        return found

    def approved(self, minute: float = 1, **changes: Any) -> str:
        """Somebody approved a capability."""
        own = {name: changes.pop(name) for name in ("writer", "tags") if name in changes}
        payload = capability_payload("approved", "user-approved-session", **changes)
        return self.add("capability.escalation.approved", payload, minute, **own)

    def used(self, run: int, minute: float = 2, **changes: Any) -> str:
        """A run of an action used a capability."""
        own = {name: changes.pop(name) for name in ("writer", "tags", "session") if name in changes}
        payload = used_payload(run, **changes)
        return self.add("module.capability.used", payload, minute, **own)

    def rejected(
        self, kind: str = "capability.check.rejected", minute: float = 3, **changes: Any
    ) -> str:
        """A violation, or with another reason none."""
        own = {name: changes.pop(name) for name in ("writer", "tags") if name in changes}
        decision, reason = changes.pop("decision", "rejected"), changes.pop("reason", VIOLATION)
        return self.add(kind, capability_payload(decision, reason, **changes), minute, **own)

    def resolved(self, violation: str, minute: float = 4, **own: Any) -> str:
        """Somebody resolved a violation."""
        return self.add("signoff.resolved", resolved_payload(violation), minute, **own)

    def checked(self, case: str, minute: float = 1, **changes: Any) -> str:
        """A case of the corpus was tried."""
        own = {name: changes.pop(name) for name in ("writer", "tags") if name in changes}
        payload = checked_payload(case, **changes)
        return self.add("certification.checked", payload, minute, tags=own.pop("tags", FIXTURE), **own)  # fmt: skip


def chained_rows(events: Sequence[Mapping[str, Any]]) -> list[ChainRow]:
    """Each event behind the one before it of the same writer, with its hash."""
    heads = dict.fromkeys(WRITERS, (0, str(GENESIS)))
    rows = []
    for event in events:
        writer = event["writer"]
        seq, prev = heads[writer]
        document = {name: value for name, value in event.items() if value is not ...}
        body = canonical_json({**document, "prev": prev, "seq": seq + 1})
        heads[writer] = (seq + 1, str(hash_of(body)))
        rows.append(ChainRow(writer, seq + 1, hash_of(body), body))
    return rows


def _time_of(event: Mapping[str, Any]) -> str:
    at = event["timestampUtc"]
    return at if isinstance(at, str) else ""


def error_of(code: str) -> dict[str, Any]:
    """What went wrong with a step."""
    return {"code": code, "class": "violation", "safeToRetry": False, "recoveryAction": "reconcile"}


def approval_of(tx_id: str, **changes: Any) -> dict[str, Any]:
    """An approval, bound to the first attempt of that transaction."""
    return {
        "txId": tx_id,
        "attemptNo": 1,
        "previewHash": DIGEST,
        "baseRevision": "7",
        "approverId": USER,
        "approverRole": "owner",
        "decision": "approved",
        "decisionAt": time_at(0),
        "approvalTtlSeconds": 3600,
        "requestId": None,
        **changes,
    }


def step_payload(tx_id: str, previous: str, following: str, **changes: Any) -> dict[str, Any]:
    """A step of an attempt."""
    number = changes.get("attemptNo", 1)
    needs = following in ("APPROVED", "APPLYING")
    return {
        "txId": tx_id,
        "attemptNo": number,
        "track": "heavy",
        "stage": "apply",
        "prevState": previous,
        "nextState": following,
        "actorId": USER,
        "actorRole": "owner",
        "requestId": "request-1",
        "idempotencyKey": "key-1",
        "documentId": "notes",
        "hostId": "note-board",
        "moduleId": "outline",
        "moduleVersion": "1.2.0",
        "actionId": "sort",
        "actionRunId": None,
        "approvalRequired": True,
        "baseRevision": "7",
        "candidateRevision": "8",
        "previewHash": DIGEST,
        "approval": approval_of(tx_id, attemptNo=number) if needs else None,
        "commitId": None,
        "durationMs": None,
        "error": None,
        "afterPartialApply": False,
        **changes,
    }


def capability_payload(decision: str, reason: str, **changes: Any) -> dict[str, Any]:
    """One of the six events about a capability, but for its id and time."""
    return {
        "moduleId": "outline",
        "moduleVersion": "1.2.0",
        "capabilityId": "state.read",
        "actionId": "sort",
        "transactionId": None,
        "decision": decision,
        "decisionReasonCode": reason,
        "approverIdentity": USER,
        "approverRole": "owner",
        "grantScope": "session" if decision == "approved" else "none",
        "grantVersion": "1.0.0",
        **changes,
    }


def used_payload(run: int, **changes: Any) -> dict[str, Any]:
    """A use of a capability by one run of an action."""
    return {
        "actionRunId": sample_id("action", run),
        "hostId": "note-board",
        "moduleId": "outline",
        "moduleVersion": "1.2.0",
        "packageDigest": DIGEST,
        "actionId": "sort",
        "origin": "interactive",
        "capabilityId": "state.read",
        "grantId": sample_id("grant"),
        "grantVersion": "1.0.0",
        "commands": [],
        "transactionId": None,
        "operation": None,
        **changes,
    }


def ended_payload(run: int, **changes: Any) -> dict[str, Any]:
    """The end of one run of an action."""
    return {
        "actionRunId": sample_id("action", run),
        "hostId": "note-board",
        "moduleId": "outline",
        "moduleVersion": "1.2.0",
        "packageDigest": DIGEST,
        "actionId": "sort",
        "origin": "interactive",
        "outcome": "done",
        "code": None,
        "detail": None,
        **changes,
    }


def resolved_payload(violation: str) -> dict[str, Any]:
    """What was said of a violation."""
    return {
        "violationEventId": violation,
        "rootCause": "a path was not checked",
        "correctiveAction": "checked since 1.2.1",
        "resolvedBy": USER,
        "resolvedAt": time_at(0),
    }


def checked_payload(case: str, **changes: Any) -> dict[str, Any]:
    """A valid package that imported; with other words, an invalid one or an action."""
    kind = changes.get("caseKind", "valid")
    code = "imported" if kind == "valid" else "invalid-module-id"
    path = None if kind == "valid" else "package.moduleId"
    fields = ("calls", "mutates", "requiresApproval", "undoCommand", "surface")
    return {
        "corpusVersion": "1.0.0",
        "caseId": case,
        "caseKind": kind,
        "subjectDigest": DIGEST,
        "answers": [{"code": code, "path": path}] * (1 if kind == "valid" else 2),
        "expectedCode": code,
        "expectedPath": path,
        "controlFields": dict.fromkeys(fields, True) if kind == "action" else None,
        **changes,
    }


def good_story() -> Story:
    """The least that is a GO: every floor just reached, every gate met."""
    story = Story()
    story.checked("valid")
    story.checked("invalid", caseKind="invalid")
    story.checked("action", caseKind="action")
    story.approved()
    for number in range(30):
        session = sample_id("session", number)
        if number < 20:
            story.used(number, session=session, tags=DRILL)
        else:
            story.add("module.action.ended", ended_payload(number), 2, session=session)
    for number in range(40):
        steps = ROLLED_BACK if number < 10 else APPLIED
        story.attempt(f"tx-{number}", steps, 5, afterPartialApply=number < 3, tags=DRILL)
    story.rejected("capability.rollback.executed", tags=DRILL)
    return story
