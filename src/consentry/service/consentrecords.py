"""What was asked and agreed to, for people and programs that look back: one record for each answer.

A record joins a question with the consent that came of it. Runs under a remembered consent or a policy
ask nobody and leave none here; the audit entries of runs name them.
"""

from collections.abc import Sequence
from typing import Final

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consent import PREFIX, Consent
from consentry.decide.consentask import ConsentAsk
from consentry.decide.fields import as_json
from consentry.decide.lasting import Lasts
from consentry.decide.question import RequestKind
from consentry.decide.session import Session
from consentry.service.approvals import Desk
from consentry.service.consenting import consents_of
from consentry.store.journal import Journal

_LEAST_PREFIX: Final = 8


@dataclass(frozen=True, slots=True)
class ConsentRecord:
    """One question about a tool, how it was answered, and what became of the consent.

    `decision` is how the question ended, or `pending`; `at` and `by` are null until it has.
    """

    tool_id: str
    version: str
    digest: Digest
    decision: str
    at: Instant | None
    by: str | None
    reason: str | None
    request_id: str
    session_id: str | None
    consent: Consent | None

    def to_json(self) -> dict[str, Json]:
        """As one document."""
        return {
            "tool": self.tool_id,
            "version": self.version,
            "digest": self.digest,
            "decision": self.decision,
            "at": as_json(self.at),
            "by": self.by,
            "reason": self.reason,
            "requestId": self.request_id,
            "sessionId": self.session_id,
            "consent": None if self.consent is None else self.consent.to_json(),
        }


def records_of_session(journal: Journal, session_id: str) -> list[ConsentRecord]:
    """Everything that was asked about tools in a session, the oldest first."""
    asked = Desk(journal).requests.of_session(session_id)
    return [_record(journal, each) for each in asked if each.question.kind is RequestKind.CONSENT]


def _record(journal: Journal, request: ApprovalRequest) -> ConsentRecord:
    ask, answer = ConsentAsk.of(request), request.answer
    given = consents_of(journal).of_request(request.request_id)
    return ConsentRecord(
        tool_id=ask.tool,
        version=ask.version,
        digest=ask.digest,
        decision=request.status,
        at=request.answered_at,
        by=None if answer is None else answer.by,
        reason=None if answer is None else answer.reason,
        request_id=request.request_id,
        session_id=request.question.session_id,
        consent=given[0] if given else None,
    )


def is_standing(consent: Consent, sessions: Sequence[Session], now: Instant) -> bool:
    """Whether it could still hold for something; `sessions` are those that go on."""
    terms = consent.terms
    if consent.revoked_at is not None or consent.used_at is not None:
        return False
    if terms.expires_at is not None and now > terms.expires_at:
        return False
    return terms.lasts is not Lasts.SESSION or any(
        each.session_id == terms.session_id for each in sessions
    )


def found_consent(journal: Journal, named: str) -> Consent:
    """The consent with this id, or the only one whose id begins so."""
    bare = named.removeprefix(f"{PREFIX}-")
    alike = consents_of(journal).beginning(f"{PREFIX}-{bare}") if len(bare) >= _LEAST_PREFIX else []
    if len(alike) > 1:
        raise UsageProblem(Code.ID_AMBIGUOUS, f"{len(alike)} consents have an id like `{named}`")
    if not alike:
        raise UsageProblem(Code.ID_UNKNOWN, f"no consent has the id `{named}`")
    return alike[0]
