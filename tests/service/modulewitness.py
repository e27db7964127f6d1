"""Looks at modules from outside: at the rows and the raw events, never at the product's own answers.

The events are followed in the order in which they became visible, each held against all that the ledger
had said before it. What they come to must be what the tables hold. Asserts:

- a use has a grant that was given before it and not ended before it, for the very version and digest that
  are registered at that place, to a capability that the package asks for, in a session that goes on where
  it is for one, under a mode that lets modules act, from the same major version of the catalog;
- the uses with which an action begins are all that it needs, recorded together;
- a grant follows one answer and one approval of its capability, in its writer's chain, right before it,
  for the content that the question showed and that is registered;
- a capability event has the thirteen fields, null only where it may be;
- the chains have no gap and no break.
"""

import json
from collections import Counter, defaultdict
from typing import Any, Final

from consentry.base.canonical import Digest
from consentry.store.database import Database
from consentry.store.history import History
from tests.service.moduleboard import NEEDS

THIRTEEN: Final = {
    "eventId",
    "timestampUtc",
    "moduleId",
    "moduleVersion",
    "capabilityId",
    "actionId",
    "transactionId",
    "decision",
    "decisionReasonCode",
    "approverIdentity",
    "approverRole",
    "grantScope",
    "grantVersion",
}
CAPABILITY_EVENTS: Final = {
    "capability.escalation.requested": "requested",
    "capability.escalation.approved": "approved",
    "capability.escalation.denied": "denied",
    "capability.check.rejected": "rejected",
}
"""The events, and how the model calls what they tell."""
LETS_ACT: Final = ("normal", "block-rejected")


class Witness:
    """What was seen so far."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._heads: dict[str, int] = {}
        self._batches: dict[str, list[dict[str, Any]]] = {}
        self._begun: dict[str, set[str]] = {}
        self.sessions: dict[str, bool] = {}
        self.catalogs: dict[str, str] = defaultdict(lambda: "1.0.0")
        self.modules: dict[str, dict[str, Any]] = {}
        self.questions: dict[str, dict[str, Any]] = {}
        self.grants: dict[str, dict[str, Any]] = {}
        self.mode = "normal"
        self.told: list[tuple[Any, ...]] = []
        self.counts: Counter[str] = Counter()

    def look(self) -> None:
        """Follows what is new."""
        heads = "SELECT writer, seq FROM ledger_head ORDER BY writer"
        new = "SELECT body FROM ledger_event WHERE writer = ? AND seq > ? ORDER BY seq"
        with self._database.reading() as view:
            found = [
                (str(writer), int(seq or 0), list(view.rows(new, (writer, self._seen(writer)))))
                for writer, seq in list(view.rows(heads))
            ]
        for writer, seq, rows in found:
            assert len(rows) == seq - self._seen(writer), "a gap in the chain"
            self._heads[writer] = seq
            for (body,) in rows:
                self._follow(writer, json.loads(str(body)))
        for run, seen in self._begun.items():
            assert not seen, f"{run} began with half of what it needs"

    def _seen(self, writer: object) -> int:
        return self._heads.get(str(writer), 0)

    def _follow(self, writer: str, event: dict[str, Any]) -> None:
        kind, payload = event["type"], event["payload"]
        self.counts[kind] += 1
        self._batches.setdefault(writer, []).append(event)
        if kind in CAPABILITY_EVENTS:
            self._told_of(event, payload)
        match kind:
            case "session.started":
                self.sessions[payload["sessionId"]] = True
            case "session.ended":
                assert self.sessions[payload["sessionId"]]
                self.sessions[payload["sessionId"]] = False
            case "module.imported":
                self.modules[payload["moduleId"]] = payload
            case "module.removed":
                assert _content(self.modules.pop(payload["moduleId"])) == _content(payload)
            case "module.mode.changed":
                self.mode = payload["mode"]
            case "approval.requested":
                self.questions[payload["requestId"]] = {**payload["preview"], "status": "pending"}
            case "approval.answered" | "approval.expired" | "approval.superseded":
                question = self.questions[payload["requestId"]]
                assert question["status"] == "pending", "ended twice"
                question["status"] = payload.get("decision", kind.removeprefix("approval."))
            case "grant.given":
                self._given(writer, payload)
            case "grant.revoked":
                grant = self.grants[payload["grantId"]]
                assert grant["revokedBy"] is None, "ended twice"
                grant.update(payload)
            case "module.capability.used":
                self._used(event, payload)

    def _told_of(self, event: dict[str, Any], payload: dict[str, Any]) -> None:
        assert set(payload) == THIRTEEN
        nulls = {name for name, value in payload.items() if value is None}
        may = {"actionId", "transactionId"}
        if payload["decision"] == "requested":
            may |= {"approverIdentity", "approverRole"}
        assert nulls <= may, nulls
        assert (payload["eventId"], payload["timestampUtc"]) == (
            event["eventId"],
            event["timestampUtc"],
        )
        kind, reason = CAPABILITY_EVENTS[event["type"]], payload["decisionReasonCode"]
        if kind == "denied":
            assert payload["decision"] == ("timeout" if reason == "deadline" else "denied")
        if kind in ("approved", "denied"):
            reason = (reason, payload["approverIdentity"])
        self.told.append((kind, *_named(payload), reason, payload["actionId"]))

    def _given(self, writer: str, grant: dict[str, Any]) -> None:
        capability, request_id = grant["capabilityId"], grant["requestId"]
        question = self.questions[request_id]
        registered = self.modules[grant["moduleId"]]
        assert _content(grant) == _content(registered) == _content(question), "across contents"
        assert capability in registered["capabilities"]
        assert capability in [each["capabilityId"] for each in question["capabilities"]]
        if grant["sessionId"] is not None:
            assert grant["sessionId"] == question["sessionId"]
            assert self.sessions[grant["sessionId"]], "for a session that is over"
        chain = self._batches[writer]
        answers = [
            place
            for place, event in enumerate(chain)
            if event["type"] == "approval.answered"
            and event["payload"]["requestId"] == request_id
            and event["payload"]["decision"] == "approved"
        ]
        assert len(answers) == 1, "a grant without its one answer"
        since = chain[answers[0] + 1 :]
        allowed = {"capability.escalation.approved", "grant.given", "grant.revoked"}
        assert {event["type"] for event in since} <= allowed, "not given with its answer"
        approvals = [
            event["payload"]
            for event in since
            if event["type"] == "capability.escalation.approved"
            and event["payload"]["capabilityId"] == capability
        ]
        assert len(approvals) == 1, "a grant without its one approval"
        scope = ("session", "persistent")[grant["sessionId"] is None]
        assert (approvals[0]["grantScope"], grant["scope"]) == (scope, scope)
        assert approvals[0]["approverIdentity"] == grant["givenBy"]
        assert grant["grantId"] not in self.grants
        self.grants[grant["grantId"]] = dict(grant)

    def _used(self, event: dict[str, Any], use: dict[str, Any]) -> None:
        grant, module = self.grants[use["grantId"]], self.modules[use["moduleId"]]
        capability, run = use["capabilityId"], use["actionRunId"]
        assert grant["revokedBy"] is None, "used under a grant that had ended"
        assert _content(use) == _content(grant) == _content(module), "used across contents"
        assert capability == grant["capabilityId"]
        assert capability in module["capabilities"], "used what nobody requested"
        assert self.mode in LETS_ACT, "used although the mode forbids"
        session = event["sessionId"]
        if grant["sessionId"] is not None:
            assert grant["sessionId"] == session
            assert self.sessions[session], "used after the session"
        majors = {
            each.partition(".")[0] for each in (grant["grantVersion"], self.catalogs[session])
        }
        assert len(majors) == 1, "used under another catalog"
        if use["operation"] is None:
            needed = {*NEEDS[use["actionId"]]}
            needed |= {"automation.invoke"} if use["origin"] != "interactive" else set()
            missing = self._begun.setdefault(run, needed)
            missing.remove(capability)
        else:
            assert self._begun[run] == set(), "an operation of an action that has not begun"
        self.told.append(("used", *_named(use), None, use["actionId"]))

    def require_whole(self) -> None:
        """Asserts that the chains hold and that the tables say what the events say."""
        heads = History(self._database).verify()
        assert isinstance(heads, list), heads
        assert {head.writer: head.seq for head in heads} == self._heads
        modules = {key: _content(value) for key, value in self.modules.items()}
        assert self._table("module", "module_id", "module_version", "package_digest") == modules
        sessions = {key: (None if goes_on else "over",) for key, goes_on in self.sessions.items()}
        ended = "CASE WHEN ended_at IS NULL THEN NULL ELSE 'over' END"
        assert self._table("session", "session_id", ended) == sessions
        statuses = {key: (value["status"],) for key, value in self.questions.items()}
        assert self._table("approval_request", "request_id", "status") == statuses
        for _, mode in self._rows("module_mode", "only_row", "mode"):
            assert mode == self.mode
        fields = (
            *("grantId", "moduleId", "moduleVersion", "packageDigest", "capabilityId", "scope"),
            *("grantVersion", "sessionId", "givenBy", "requestId", "revokedBy", "revokedAt"),
        )
        columns = (
            *("grant_id", "module_id", "module_version", "package_digest", "capability_id"),
            *("scope", "grant_version", "session_id", "given_by", "request_id"),
            *("revoked_by", "revoked_at"),
        )
        grants = {
            key: tuple(value[name] for name in fields[1:]) for key, value in self.grants.items()
        }
        assert self._table("capability_grant", *columns) == grants

    @property
    def runs(self) -> set[str]:
        """The actions that have begun."""
        return set(self._begun)

    def blocks(self) -> dict[tuple[Any, ...], tuple[Any, ...]]:
        """The actions that are blocked, as the table has them."""
        rows = self._rows("module_block", "module_id", "action_id", "code", "capability_id")
        return {row[:2]: row[2:] for row in rows}

    def storage(self) -> dict[tuple[Any, ...], Any]:
        """What modules keep, as the table has it."""
        rows = self._rows("module_storage", "module_id", "storage_key", "value")
        return {row[:2]: json.loads(str(row[2])) for row in rows}

    def _rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        with self._database.reading() as view:
            return list(view.rows(f"SELECT {', '.join(columns)} FROM {table}"))  # noqa: S608 - ours

    def _table(self, table: str, *columns: str) -> dict[Any, tuple[Any, ...]]:
        return {key: tuple(rest) for key, *rest in self._rows(table, *columns)}


def _content(document: dict[str, Any]) -> tuple[str, Digest]:
    return document["moduleVersion"], document["packageDigest"]


def _named(document: dict[str, Any]) -> tuple[str, str, str]:
    return document["moduleId"], document["moduleVersion"], document["capabilityId"]
