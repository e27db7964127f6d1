"""Approval requests in the store: asked, answered once, expired or superseded.

Every way a request can end is one compare-and-set on its status, in the transaction that records
the event. Of processes that answer at once, one changes the row; the others look again and are told
how it ended.
"""

from collections.abc import Callable, Sequence

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.ids import IdSource
from consentry.base.units import Duration
from consentry.decide.approval import (
    ANSWER_FIELDS,
    FIELDS,
    PREFIX,
    ApprovalRequest,
)
from consentry.decide.question import Answer, Question
from consentry.record.envelope import Context, Draft
from consentry.record.events import EventType
from consentry.store.database import Transaction, Value
from consentry.store.journal import About, Journal, picked
from consentry.store.ledger import Ledger
from consentry.store.rows import Overtaken, Table

_TABLE = Table("approval_request", FIELDS, frozenset({"preview"}), ApprovalRequest.from_json)
_PENDING = "status = 'pending'"
_AT_A_TIME = 500


class StoredRequests:
    """The requests of one store, as one machine asks and answers them."""

    def __init__(self, ledger: Ledger, ids: IdSource, clock: Clock, context: Context) -> None:
        self._journal = Journal(ledger, ids, clock, context)

    def ask(self, question: Question, within: Duration) -> ApprovalRequest:
        """Puts the question to whoever looks; no answer within that time is a no."""
        journal, now = self._journal, self._journal.clock.now()
        request = ApprovalRequest(
            journal.ids.new(PREFIX), question, journal.machine_id, now, now.plus(within)
        )
        draft = journal.draft(EventType.APPROVAL_REQUESTED, _about(request), request.to_json(), now)
        journal.record(draft, change=lambda transaction: _TABLE.insert(transaction, request))
        return request

    def answer(self, request_id: str, answer: Answer) -> ApprovalRequest:
        """Records the answer if it is the first and in time, and refuses it otherwise."""
        request, now = self._required(request_id), self._journal.clock.now()
        if request.is_overdue(now):
            self._settle([request.expired(now)], now)
        settled = request.answered(answer, now)
        if not self._settle([settled], now):
            self._required(request_id).require_open(now)
            raise Refused(Code.REQUEST_SETTLED, f"`{request_id}` was answered meanwhile")
        return settled

    def expire_overdue(self) -> Sequence[ApprovalRequest]:
        """Expires what nobody answered in time."""
        now = self._journal.clock.now()
        where, values = f"{_PENDING} AND deadline < ?", (str(now),)
        return self._settle_all(where, values, lambda request: request.expired(now), now)

    def supersede_pending(self, ended_policy: Digest) -> Sequence[ApprovalRequest]:
        """Supersedes what this machine asked under a policy that does not hold any more."""
        now = self._journal.clock.now()
        where = f"{_PENDING} AND machine_id = ? AND policy_hash = ?"
        values = (self._journal.machine_id, ended_policy)
        return self._settle_all(where, values, lambda request: request.superseded(now), now)

    def supersede(self, request_id: str) -> ApprovalRequest:
        """Supersedes one request; one that ended before stays as it was."""
        request, now = self._required(request_id), self._journal.clock.now()
        if not request.is_pending:
            return request
        superseded = request.superseded(now)
        return superseded if self._settle([superseded], now) else self._required(request_id)

    def find(self, request_id: str) -> ApprovalRequest | None:
        """The request with this id."""
        return _TABLE.find(self._journal.database, request_id)

    def pending(self) -> Sequence[ApprovalRequest]:
        """Those that can still be answered, the oldest first."""
        return _TABLE.select(
            self._journal.database,
            f"{_PENDING} AND deadline >= ?",
            (str(self._journal.clock.now()),),
            "ORDER BY requested_at, request_id",
        )

    def about(self, digest: Digest) -> Sequence[ApprovalRequest]:
        """Those that bind to a digest, however they ended, the oldest first."""
        return _TABLE.select(
            self._journal.database, "digest = ?", (digest,), "ORDER BY requested_at, request_id"
        )

    def of_session(self, session_id: str) -> Sequence[ApprovalRequest]:
        """Those that were asked in a session, however they ended, the oldest first."""
        return _TABLE.select(
            self._journal.database,
            "session_id = ?",
            (session_id,),
            "ORDER BY requested_at, request_id",
        )

    def latest_about(self, digest: Digest, most: int) -> Sequence[ApprovalRequest]:
        """The last ones that bind to a digest, however they ended, the newest first."""
        rest = f"ORDER BY requested_at DESC, request_id DESC LIMIT {int(most)}"
        return _TABLE.select(self._journal.database, "digest = ?", (digest,), rest)

    def beginning(self, prefix: str) -> Sequence[ApprovalRequest]:
        """Those whose id begins so, however they ended, the oldest first."""
        return _TABLE.select(
            self._journal.database,
            "request_id >= ? AND request_id < ?",
            (prefix, f"{prefix}~"),  # behind every letter that an id is made of
            "ORDER BY request_id",
        )

    def _required(self, request_id: str) -> ApprovalRequest:
        request = self.find(request_id)
        if request is None:
            raise UsageProblem(Code.ID_UNKNOWN, f"no approval request has the id `{request_id}`")
        return request

    def _settle_all(
        self,
        where: str,
        values: Sequence[Value],
        settle: Callable[[ApprovalRequest], ApprovalRequest],
        now: Instant,
    ) -> list[ApprovalRequest]:
        """Settles all that fit, some hundred at a time; what others settle meanwhile is theirs."""
        done: list[ApprovalRequest] = []
        rest = f"ORDER BY request_id LIMIT {_AT_A_TIME}"
        while found := _TABLE.select(self._journal.database, where, values, rest):
            settled = [settle(request) for request in found]
            if self._settle(settled, now):
                done += settled
        return done

    def _settle(self, settled: Sequence[ApprovalRequest], now: Instant) -> bool:
        """Ends them all, or none if one of them has ended before."""

        def change(transaction: Transaction) -> None:
            for request in settled:
                _TABLE.update(transaction, request, ("status", *ANSWER_FIELDS), _PENDING)

        try:
            self._journal.record(*(self._ending(each, now) for each in settled), change=change)
        except Overtaken:
            return False
        return True

    def _ending(self, request: ApprovalRequest, now: Instant) -> Draft:
        document = request.to_json()
        event, payload = _ENDINGS[request.status](document)
        return self._journal.draft(event, _about(request), payload, now)


def _answered(document: dict[str, Json]) -> tuple[EventType, dict[str, Json]]:
    payload = {**picked(document, "requestId", *ANSWER_FIELDS), "decision": document["status"]}
    return EventType.APPROVAL_ANSWERED, payload


def _expired(document: dict[str, Json]) -> tuple[EventType, dict[str, Json]]:
    return EventType.APPROVAL_EXPIRED, picked(document, "requestId", "deadline")


def _superseded(document: dict[str, Json]) -> tuple[EventType, dict[str, Json]]:
    payload = {"requestId": document["requestId"], "why": document["reason"]}
    return EventType.APPROVAL_SUPERSEDED, payload


_ENDINGS = {
    "approved": _answered,
    "denied": _answered,
    "expired": _expired,
    "superseded": _superseded,
}


def _about(request: ApprovalRequest) -> About:
    question, answer = request.question, request.answer
    return About(
        question.subject,
        actor=None if answer is None else answer.by,
        session_id=question.session_id,
        policy_hash=question.policy_hash,
    )
