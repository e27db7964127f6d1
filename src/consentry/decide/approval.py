"""Approval requests: one question to one person, answered once.

    pending ── answered in time ──> approved | denied
            ── deadline passed ───> expired      which counts as no
            ── policy changed ────> superseded   the question is no longer the one to ask

Rules kept:
- Exactly one answer wins; a second one is refused and told how the first ended.
- An answer after the deadline is refused, and the request is expired from then on.
- What asks cannot answer: an answer by the subject itself is refused, and so is a viewer's.
- The system's own word never approves: it only says that time ran out or that the rules changed.

A request is not a grant. What an approval opens is kept as a consent or a grant of its own.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.units import Duration
from consentry.base.values import dataclass, replace
from consentry.decide.fields import (
    Fields,
    check_id_field,
    check_not_before,
    check_pair,
    problem,
)
from consentry.decide.identity import Identity, Role
from consentry.decide.lasting import Lasts
from consentry.decide.machine import check_machine_id
from consentry.decide.question import BY_SYSTEM, Answer, Channel, Outcome, Question, RequestKind

PREFIX: Final = "request"
PENDING: Final = "pending"
POLICY_CHANGED: Final = "the policy changed"


ANSWER_FIELDS: Final = (
    "answeredBy",
    "answeredRole",
    "channel",
    "answeredAt",
    "reason",
    "lasts",
    "lastsUntil",
)
FIELDS: Final = (
    "requestId",
    "kind",
    "subject",
    "question",
    "preview",
    "digest",
    "policyHash",
    "sessionId",
    "machineId",
    "requestedAt",
    "deadline",
    "status",
    *ANSWER_FIELDS,
)


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A question that was asked, and its answer once there is one."""

    request_id: str
    question: Question
    machine_id: str
    requested_at: Instant
    deadline: Instant
    answer: Answer | None = None
    answered_at: Instant | None = None

    def __post_init__(self) -> None:
        check_id_field("requestId", self.request_id, PREFIX)
        check_machine_id("machineId", self.machine_id)
        check_not_before("deadline", self.deadline, self.requested_at)
        check_pair("answeredBy", self.answer, "answeredAt", self.answered_at)
        check_not_before("answeredAt", self.answered_at, self.requested_at)

    @property
    def status(self) -> str:
        """`pending`, or how it ended."""
        return PENDING if self.answer is None else self.answer.outcome.value

    @property
    def is_pending(self) -> bool:
        """Whether it waits for its answer."""
        return self.answer is None

    @property
    def ending(self) -> str:
        """How it ended, by whom, on which way and when; or that it waits, in a sentence."""
        if self.answer is None:
            return f"`{self.request_id}` waits for an answer until {self.deadline.shown()}"
        when = (self.answered_at or self.deadline).shown()
        ended = f"{self.status} by `{self.answer.by}` ({self.answer.role})"
        return f"`{self.request_id}` was {ended} through {self.answer.channel} at {when}"

    def is_overdue(self, now: Instant) -> bool:
        """Whether it waits although its deadline has passed; that counts as no."""
        return self.is_pending and now > self.deadline

    def answered(self, answer: Answer, now: Instant) -> "ApprovalRequest":
        """The request with its answer, or the refusal of that answer."""
        self.require_open(now)
        if answer.outcome in BY_SYSTEM:
            message = f"`{answer.outcome}` is no answer to `{self.request_id}`"
            raise Refused(Code.ANSWER_REFUSED, message)
        if answer.by == self.question.subject:
            message = f"`{answer.by}` asks in `{self.request_id}` and cannot answer it"
            raise Refused(Code.ANSWER_REFUSED, message)
        if answer.role is Role.VIEWER:
            message = f"`{answer.by}` may look at `{self.request_id}` and not answer it"
            raise Refused(Code.ANSWER_REFUSED, message)
        return self._settled(answer, now)

    def expired(self, now: Instant) -> "ApprovalRequest":
        """The request after its deadline."""
        return self._settled(Answer.by_system(Outcome.EXPIRED, "the deadline passed"), now)

    def superseded(self, now: Instant, why: str = POLICY_CHANGED) -> "ApprovalRequest":
        """The request after the policy it was asked under changed, or else what it is about."""
        return self._settled(Answer.by_system(Outcome.SUPERSEDED, why), now)

    def require_open(self, now: Instant) -> None:
        """Raises unless an answer can still be given now, and says how it ended."""
        if self.is_overdue(now) or self.status == Outcome.EXPIRED:
            message = f"the deadline of `{self.request_id}` passed at {self.deadline.shown()}"
            raise Refused(Code.REQUEST_LATE, message)
        if self.answer is not None:
            raise Refused(Code.REQUEST_SETTLED, self.ending)

    def _settled(self, answer: Answer, now: Instant) -> "ApprovalRequest":
        return replace(self, answer=answer, answered_at=max(now, self.requested_at))

    def to_json(self) -> dict[str, Json]:
        """The fields as they are recorded."""
        question, answer, at = self.question, self.answer, self.answered_at
        answer_fields: dict[str, Json] = dict.fromkeys(ANSWER_FIELDS)
        if answer is not None and at is not None:
            answer_fields = answer.to_json(at)
        return {
            "requestId": self.request_id,
            "kind": question.kind.value,
            "subject": question.subject,
            "question": question.text,
            "preview": question.preview,
            "digest": question.digest,
            "policyHash": question.policy_hash,
            "sessionId": question.session_id,
            "machineId": self.machine_id,
            "requestedAt": str(self.requested_at),
            "deadline": str(self.deadline),
            "status": self.status,
            **answer_fields,
        }

    @classmethod
    def from_json(cls, document: object) -> "ApprovalRequest":
        """Reads what `to_json` writes."""
        fields = Fields(document, FIELDS)
        return cls(
            request_id=fields.text("requestId"),
            question=_question(fields),
            machine_id=fields.text("machineId"),
            requested_at=fields.instant("requestedAt"),
            deadline=fields.instant("deadline"),
            answer=_answer(fields),
            answered_at=fields.optional_instant("answeredAt"),
        )


def _question(fields: Fields) -> Question:
    return Question(
        kind=fields.member("kind", RequestKind),
        subject=fields.text("subject"),
        text=fields.text("question"),
        preview=fields.value("preview"),
        digest=fields.optional_digest("digest"),
        policy_hash=fields.optional_digest("policyHash"),
        session_id=fields.optional_text("sessionId"),
    )


def _answer(fields: Fields) -> Answer | None:
    if fields.text("status") == PENDING:
        for name in ANSWER_FIELDS:
            if fields.value(name) is not None:
                raise problem(name, "a pending request has no answer")
        return None
    return Answer(
        outcome=fields.member("status", Outcome),
        by=Identity(fields.text("answeredBy")),
        role=fields.member("answeredRole", Role),
        channel=fields.member("channel", Channel),
        reason=fields.optional_text("reason"),
        lasts=fields.optional_member("lasts", Lasts),
        lasts_until=fields.optional_instant("lastsUntil"),
    )


class ApprovalRequests(Protocol):
    """Where requests are kept. They outlive the process that asked."""

    def ask(self, question: Question, within: Duration) -> ApprovalRequest:
        """Puts the question to whoever looks; no answer within that time is a no."""
        ...

    def answer(self, request_id: str, answer: Answer) -> ApprovalRequest:
        """Records the answer if it is the first and in time, and refuses it otherwise."""
        ...

    def expire_overdue(self) -> Sequence[ApprovalRequest]:
        """Expires what nobody answered in time."""
        ...

    def supersede_pending(self, ended_policy: Digest) -> Sequence[ApprovalRequest]:
        """Supersedes what this machine asked under a policy that does not hold any more.

        Other machines, and other workspaces of this one, have policies of their own.
        """
        ...

    def supersede(self, request_id: str) -> ApprovalRequest:
        """Supersedes one request; one that ended before stays as it was."""
        ...

    def find(self, request_id: str) -> ApprovalRequest | None:
        """The request with this id."""
        ...

    def pending(self) -> Sequence[ApprovalRequest]:
        """Those that can still be answered, the oldest first."""
        ...
