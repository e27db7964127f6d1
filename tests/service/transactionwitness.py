"""Looks at transactions from outside: at the rows and the raw events, never at the product's own answers.

The events are followed in the order in which they became visible, each held against all that the ledger had
said before it. What they come to must be what the tables hold. Asserts:

- every step is one that the table of steps has, from where the attempt was; nothing follows an end;
- nothing becomes `APPLYING` without an approval that is bound to this transaction, attempt, preview and
  revision, that was given before it and in time, by a person who saw it where one has to; nor while an attempt
  blocks the document; nor, for a module, without the use of its capability in the same breath;
- what a violation ended is told by an event of its own, once;
- no key has more than one commit that took effect;
- the commits of an attempt are those of its state: `APPLIED` has one, `ROLLED_BACK` none or one and its
  opposite, what never took effect has none;
- the commits are one chain of revisions, and what is in the document is what they come to;
- every row has its event, and the chains have no gap and no break.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, Final

from consentry.store.database import Database
from consentry.store.history import History

NEXT: Final[Mapping[str, tuple[str, ...]]] = {
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
    "ROLLED_BACK": (),
    "REJECTED": (),
    "FAILED_TERMINAL": (),
}
"""The steps, as the specification lists them."""
NONE, APPLIED, UNDONE = (0, 0), (1, 0), (1, 1)
COMMITS: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    **dict.fromkeys(("APPROVAL_PENDING", "APPROVED", "FAILED_PRE_APPLY", "REJECTED"), (NONE,)),
    "APPLYING": (NONE, APPLIED),
    "APPLIED": (APPLIED,),
    "ROLLBACK_PENDING": (APPLIED, UNDONE),
    "ROLLED_BACK": (NONE, UNDONE),
    "RECOVERY_PENDING": (NONE, APPLIED, UNDONE),
    "FAILED_TERMINAL": (NONE, APPLIED, UNDONE),
}
"""How many commits and roll-backs an attempt in that state has."""
FIRST_REVISION: Final = "sha256:" + "0" * 64

Attempt = tuple[str, int]


class Witness:
    """What was seen so far of one document, whose rows are in a database of their own or in the ledger's."""

    def __init__(self, database: Database, documents: Database) -> None:
        self._database = database
        self._documents = documents
        self._heads: dict[str, int] = {}
        self.attempts: dict[Attempt, str] = {}
        self.questions: dict[str, dict[str, Any]] = {}
        self._approvals: dict[Attempt, dict[str, Any]] = {}
        self._blocks: dict[Attempt, str] = {}
        self._uses: Counter[str] = Counter()
        self._broken: Counter[tuple[str, str]] = Counter()
        self._module_applies: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()

    @property
    def transactions(self) -> list[str]:
        """Their ids, in the order in which they were asked for."""
        return list(dict.fromkeys(tx for tx, _ in self.attempts))

    def latest(self, tx_id: str) -> Attempt:
        """The last attempt of a transaction."""
        return max(each for each in self.attempts if each[0] == tx_id)

    def look(self) -> None:
        """Follows what is new."""
        new = "SELECT body FROM ledger_event WHERE writer = ? AND seq > ? ORDER BY seq"
        with self._database.reading() as view:
            heads = list(view.rows("SELECT writer, seq FROM ledger_head ORDER BY writer"))
            found = [
                (str(writer), int(seq or 0), list(view.rows(new, (writer, self._seen(writer)))))
                for writer, seq in heads
            ]
        for writer, seq, rows in found:
            assert len(rows) == seq - self._seen(writer), "a gap in the chain"
            self._heads[writer] = seq
            for (body,) in rows:
                self._follow(json.loads(str(body)))

    def _seen(self, writer: object) -> int:
        return self._heads.get(str(writer), 0)

    def _follow(self, event: dict[str, Any]) -> None:
        kind, payload = event["type"], event["payload"]
        self.counts[kind] += 1
        match kind:
            case "transaction.transition":
                assert payload["timestamp"] == event["timestampUtc"]
                self._stepped(payload)
            case "transaction.resolved":
                place = (payload["txId"], payload["attemptNo"])
                assert place in self._blocks, "resolved what blocked nothing"
                del self._blocks[place]
            case "approval.requested":
                assert payload["requestId"] not in self.questions
                self.questions[payload["requestId"]] = {**payload, "status": "pending"}
            case "approval.answered" | "approval.expired" | "approval.superseded":
                question = self.questions[payload["requestId"]]
                assert question["status"] == "pending", "ended twice"
                question["status"] = payload.get("decision", kind.removeprefix("approval."))
            case "module.capability.used":
                operation = payload["operation"]
                assert operation["operation"] == "apply"
                self._uses[operation["txId"]] += 1
            case "capability.rollback.executed" | "capability.rollback.failed":
                assert payload["decisionReasonCode"] == "capability-policy-violation"
                self._broken[payload["transactionId"], kind] -= 1

    def _stepped(self, step: dict[str, Any]) -> None:
        previous, following = step["prevState"], step["nextState"]
        place = (step["txId"], step["attemptNo"])
        self.counts[following] += 1
        assert following in NEXT[previous], (previous, following)
        if following == "PREVIEWING":
            before = (place[0], place[1] - 1)
            was = "RECEIVED" if place[1] == 1 else self.attempts[before]
            assert place not in self.attempts, "previewed twice"
        else:
            was = self.attempts[place]
        assert was == previous, (place, was, previous, following)
        self.attempts[place] = following
        match following:
            case "APPROVED" if previous == "APPROVAL_PENDING":
                self._approved(place, step)
            case "APPLYING":
                self._applying(place, step)
            case "FAILED_PRE_APPLY" if previous == "APPLYING" and step["moduleId"]:
                self._module_applies[place[0]] -= 1
            case "FAILED_TERMINAL":
                self._blocks[place] = step["documentId"]
                if step["afterPartialApply"]:
                    self._broken[place[0], "capability.rollback.failed"] += 1
            case "ROLLED_BACK" if step["afterPartialApply"]:
                self._broken[place[0], "capability.rollback.executed"] += 1
        if following in ("APPLYING", "ROLLBACK_PENDING"):
            assert step["idempotencyKey"]

    def _approved(self, place: Attempt, step: dict[str, Any]) -> None:
        approval = step["approval"]
        bound = (approval["txId"], approval["attemptNo"])
        assert (*bound, approval["decision"]) == (*place, "approved")
        if step["approvalRequired"]:
            question = self.questions[approval["requestId"]]
            assert question["status"] == "approved", "approved without a yes"
            shown = question["preview"]
            for name in ("txId", "attemptNo", "previewHash", "baseRevision"):
                assert shown[name] == approval[name], "a yes to something else"
            assert approval["approverId"] not in ("system", step["moduleId"])
        else:
            assert approval["requestId"] is None
        self._approvals[place] = approval

    def _applying(self, place: Attempt, step: dict[str, Any]) -> None:
        approval = step["approval"]
        assert approval == self._approvals.get(place), "applied without its approval"
        bound = (approval["previewHash"], approval["baseRevision"])
        assert bound == (step["previewHash"], step["baseRevision"])
        assert step["documentId"] not in self._blocks.values(), (
            "applied to a document that is blocked"
        )
        if step["moduleId"]:
            self._module_applies[place[0]] += 1

    def require_whole(self) -> None:
        """Asserts that the chains hold, and that the tables say what the events say."""
        heads = History(self._database).verify()
        assert isinstance(heads, list), heads
        assert {head.writer: head.seq for head in heads} == self._heads
        rows = self._rows("transaction_attempt", "tx_id", "attempt_no", "state", "attempt")
        assert {(tx, no): state for tx, no, state, _ in rows} == self.attempts
        for tx, no, state, text in rows:
            kept = json.loads(str(text))
            assert (kept["txId"], kept["attemptNo"], kept["state"]) == (tx, no, state)
        blocks = {(tx, no) for tx, no in self._rows("transaction_block", "tx_id", "attempt_no")}
        assert blocks == set(self._blocks)
        asked = "SELECT request_id, status FROM approval_request"
        with self._database.reading() as view:
            statuses = {str(key): str(status) for key, status in view.rows(asked)}
        assert statuses == {key: each["status"] for key, each in self.questions.items()}
        assert not +self._broken, "a violation that ended without its event"
        assert not -self._broken, "an event of a violation that never ended"
        # A use is on record with the step to `APPLYING`, also of one that came to nothing after it.
        assert all(self._uses[tx] >= applies for tx, applies in self._module_applies.items())
        self._require_commits()

    def _require_commits(self) -> None:
        columns = ("document_id", "kind", "tx_id", "attempt_no", "commit_key", "base_revision")
        rows = self._rows("document_commit", *columns, "revision", of=self._documents)
        durable = [row for row in rows if row[1] != "given-up"]
        keys = Counter((row[1], str(row[4]).split(":", 4)[4]) for row in durable)
        twice = [key for key, times in keys.items() if times > 1]
        assert not twice, f"committed twice under one key: {twice}"
        kinds = Counter((row[2], row[3], row[1]) for row in durable)
        for place, state in self.attempts.items():
            found = (kinds[(*place, "apply")], kinds[(*place, "rollback")])
            assert found in COMMITS[state], (place, state, found)
        self._require_replayed(durable)

    def _require_replayed(self, durable: list[tuple[Any, ...]]) -> None:
        writes = {
            (tx, no): json.loads(str(text))
            for tx, no, text in self._rows("transaction_content", "tx_id", "attempt_no", "writes")
        }
        after = {row[5]: row for row in durable}
        assert len(after) == len(durable), "two commits from one revision"
        revision, entities, steps = FIRST_REVISION, dict[tuple[str, str], Any](), 0
        while revision in after:
            _, kind, tx, no, _, _, revision = after[revision]
            steps += 1
            side = "after" if kind == "apply" else "before"
            for each in writes[tx, no]:
                name = (each["entityType"], each["entityId"])
                entities.pop(name, None)
                if each[side] is not None:
                    entities[name] = each[side]["value"]
        assert steps == len(durable), "a commit outside of the chain"
        found = self.entities()
        assert found == entities, "the document is not what its commits come to"
        kept = self._rows("document", "document_id", "revision", of=self._documents)
        assert [row[1] for row in kept] in ([], [revision])

    def entities(self) -> dict[tuple[str, str], Any]:
        """What is in the document, as the table has it."""
        rows = self._rows(
            "document_entity", "entity_type", "entity_id", "value", of=self._documents
        )
        return {(one, two): json.loads(str(text)) for one, two, text in rows}

    def log(self) -> dict[Attempt, list[str]]:
        """What the log of the document says of each attempt, sorted."""
        rows = self._rows("document_commit", "tx_id", "attempt_no", "kind", of=self._documents)
        found = defaultdict[Attempt, list[str]](list)
        for tx, no, kind in sorted(rows):
            found[tx, no].append(kind)
        return dict(found)

    def _rows(self, table: str, *columns: str, of: Database | None = None) -> list[Any]:
        with (of or self._database).reading() as view:
            return list(view.rows(f"SELECT {', '.join(columns)} FROM {table}"))  # noqa: S608 - ours
