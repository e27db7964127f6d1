"""Approval requests in the store: asked, answered once, expired or superseded.

Every way a request can end is one compare-and-set on its status, in the transaction that records
the event. Of processes that answer at once, one changes the row; the others look again and are told
how it ended.

A request for a larger permission set ends together with what its ending decides, in one transaction:
see `store.escalations`. Of one execution there is one such request, ever.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

from consentry.base.canonical import Digest
from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, Refused, UsageProblem
from consentry.base.ids import IdSource
from consentry.base.units import Duration
from consentry.decide.approval import (
    ANSWER_FIELDS,
    FIELDS,
    POLICY_CHANGED,
    PREFIX,
    ApprovalRequest,
)
from consentry.decide.fields import problem
from consentry.decide.question import Answer, Question, RequestKind
from consentry.record.envelope import Context
from consentry.store.asking import Asking
from consentry.store.database import Transaction, Value
from consentry.store.endings import (
    SET_CHANGED,
    beginning_of,
    ending_of,
    has_moved_a_set,
)
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.rows import Lapsed, Overtaken, Table

_TABLE = Table("approval_request", FIELDS, frozenset({"preview"}), ApprovalRequest.from_json)
_PENDING = "status = 'pending'"
_AT_A_TIME = 500
_MOST_TRIES = 8


class StoredRequests:
    """The requests of one store, as one machine asks and answers them."""

    def __init__(self, ledger: Ledger, ids: IdSource, clock: Clock, context: Context) -> None:
        self._journal = Journal(ledger, ids, clock, context)

    def ask(self, question: Question, within: Duration) -> ApprovalRequest:
        """Puts the question to whoever looks; no answer within that time is a no."""
        try:
            return self._ask(question, within)
        except Overtaken:
            message = f"`{question.subject}` has asked for a larger set in this execution before"
            raise Refused(Code.ESCALATION_SPENT, message) from None

    def _ask(self, question: Question, within: Duration) -> ApprovalRequest:
        asking = self.asking(question, within)
        self._journal.record(*asking.drafts, change=asking.change)
        return asking.request

    def asking(self, question: Question, within: Duration) -> Asking:
        """A question to be put in a transaction together with what it is about."""
        journal, now = self._journal, self._journal.clock.now()
        request = ApprovalRequest(
            journal.ids.new(PREFIX), question, journal.machine_id, now, now.plus(within)
        )
        drafts = beginning_of(journal, request, now)
        return Asking(request, drafts, lambda transaction: _TABLE.insert(transaction, request))

    def ask_or_join(self, question: Question, within: Duration) -> ApprovalRequest:
        """The request that waits for an answer to this very question already, or else a new one.

        Two processes that ask at once get the same one; the database keeps the second out.
        """
        if question.kind is not RequestKind.CAPABILITY or question.digest is None:
            raise problem("digest", "only what a module asks for is joined")
        for _ in range(_MOST_TRIES):
            now = str(self._journal.clock.now())
            where = f"digest = ? AND {_PENDING} AND deadline >= ?"
            waiting = _TABLE.select(self._journal.database, where, (question.digest, now))
            if waiting:
                return waiting[0]
            try:
                return self._ask(question, within)
            except Overtaken:
                self.expire_overdue()  # or one that nobody looked at stands in the way for ever
        raise LedgerProblem(Code.LEDGER_BUSY, "others keep asking the same at once")

    def ask_once(self, question: Question, within: Duration) -> tuple[ApprovalRequest, bool]:
        """The request of this execution and whether it is new; one that was made before stays it.

        Two processes that ask at once get the same one, however it may have ended since.
        """
        if question.kind is not RequestKind.ESCALATION or question.digest is None:
            raise problem("digest", "only what an execution asks for itself is asked once")
        for _ in range(_MOST_TRIES):
            earlier = self.about(question.digest)
            if earlier:
                return earlier[0], False
            try:
                return self._ask(question, within), True
            except Overtaken:
                continue
        raise LedgerProblem(Code.LEDGER_BUSY, "others keep asking for this execution at once")

    def answer(self, request_id: str, answer: Answer) -> ApprovalRequest:
        """Records the answer if it is the first and in time, and refuses it otherwise."""
        request, now = self._required(request_id), self._journal.clock.now()
        if request.is_overdue(now):
            self._settle([request.expired(now)], now)
        settled = request.answered(answer, now)
        for _ in range(_MOST_TRIES):
            if self._is_answered(request, settled, now):
                break
            # It ended meanwhile, and says so; or what follows from it was overtaken.
            self._required(request_id).require_open(now)
        else:
            raise Refused(Code.REQUEST_SETTLED, f"`{request_id}` was answered meanwhile")
        if has_moved_a_set(settled):
            self.outdate(settled.question.subject, SET_CHANGED)
        return settled

    def _is_answered(
        self, request: ApprovalRequest, settled: ApprovalRequest, now: Instant
    ) -> bool:
        """Whether this answer is the one that counts; raises where it opens nothing any more."""
        try:
            return self._settle([settled], now)
        except Lapsed as lapsed:
            if not self._settle([request.superseded(now, lapsed.why)], now):
                return False
            message = f"`{request.request_id}` opens nothing any more: {lapsed.why}"
            raise Refused(Code.APPROVAL_SUPERSEDED, message) from None

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

    def supersede(self, request_id: str, why: str = POLICY_CHANGED) -> ApprovalRequest:
        """Supersedes one request; one that ended before stays as it was."""
        request, now = self._required(request_id), self._journal.clock.now()
        if not request.is_pending:
            return request
        superseded = request.superseded(now, why)
        return superseded if self._settle([superseded], now) else self._required(request_id)

    def outdate(self, subject: str, why: str) -> None:
        """Supersedes what a capability still asks for, because it is not what it was.

        Nobody depends on it: what is left waiting is superseded when somebody says yes to it. So
        where it cannot be done now, whoever changed the capability is not told of a failure.
        """
        now = self._journal.clock.now()
        where = f"{_PENDING} AND subject = ? AND kind = '{RequestKind.ESCALATION}'"
        with suppress(LedgerProblem):
            self._settle_all(where, (subject,), lambda each: each.superseded(now, why), now)

    def outdate_module(self, host_id: str, module_id: str, why: str) -> None:
        """Supersedes what a module of a host still waits for, because it is not what it was.

        Nobody depends on it: a yes to what is left waiting opens nothing.
        """
        now = self._journal.clock.now()
        where = f"{_PENDING} AND subject = ? AND kind IN ('capability', 'action', 'transaction')"
        values, rest = (f"module:{module_id}",), "ORDER BY requested_at, request_id"
        waiting = _TABLE.select(self._journal.database, where, values, rest)
        with suppress(LedgerProblem):
            for each in waiting:
                preview = each.question.preview
                if isinstance(preview, dict) and preview.get("hostId") == host_id:
                    self._settle([each.superseded(now, why)], now)

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

    def latest_actions(self, session_id: str, subject: str, most: int) -> Sequence[ApprovalRequest]:
        """The last ones about calls of a module that were asked in a session, the newest first."""
        where = f"session_id = ? AND subject = ? AND kind = '{RequestKind.ACTION}'"
        rest = f"ORDER BY requested_at DESC, request_id DESC LIMIT {int(most)}"
        return _TABLE.select(self._journal.database, where, (session_id, subject), rest)

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
        endings = [ending_of(self._journal, each, now) for each in settled]

        def change(transaction: Transaction) -> None:
            for request, ending in zip(settled, endings, strict=True):
                _TABLE.update(transaction, request, ("status", *ANSWER_FIELDS), _PENDING)
                if ending.change is not None:
                    ending.change(transaction)

        try:
            drafts = (draft for ending in endings for draft in ending.drafts)
            self._journal.record(*drafts, change=change)
        except Overtaken:
            return False
        return True
