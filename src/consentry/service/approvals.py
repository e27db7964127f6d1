"""The desk: puts a question to whoever may answer, and waits for the one answer that counts.

    ask        stores the question; from then on any channel can answer it, and a crash loses nothing
    look       how it stands now: a deadline that passed denies, a policy that changed supersedes
    answer     records the answer if it is one that the question takes, the first, and in time
    wait       asks through one channel and watches all others meanwhile; one answer wins

Whoever lost the race is told who won and when: through the error of `answer`, or by the asker's own
`tell`. An asker that returns nothing (its terminal is gone) takes nothing back: the question stays
open to the other channels until its deadline.

What a running program waits for ends with the process that put the question: whoever looks from the
same machine after that supersedes it.

Requests asked under another policy are superseded by whoever looks from the same machine and
workspace first. Other machines and workspaces have policies of their own.
"""

import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.base.units import Duration
from consentry.base.values import dataclass, field
from consentry.decide.approval import PREFIX, ApprovalRequest
from consentry.decide.consentask import ConsentAsk
from consentry.decide.heldask import HeldAsk
from consentry.decide.question import Answer, Outcome, Question, RequestKind
from consentry.declare.preferences import ApprovalSettings
from consentry.service.leader import is_alive
from consentry.store.journal import Journal
from consentry.store.requests import StoredRequests

Look: TypeAlias = Callable[[], ApprovalRequest]
"""How the request stands now."""
IsStale: TypeAlias = Callable[[ApprovalRequest], bool]
"""Whether what is asked about has changed since, so that the question no longer counts."""
Pause: TypeAlias = Callable[[float], None]

_USUAL: Final = ApprovalSettings()
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0
_ABANDONED: Final = "the process that asked has ended"
_LEAST_PREFIX: Final = 8
_LOST: Final = (Code.REQUEST_SETTLED, Code.REQUEST_LATE)
_ENDINGS: Final = {
    Outcome.DENIED: Code.APPROVAL_DENIED,
    Outcome.EXPIRED: Code.APPROVAL_EXPIRED,
    Outcome.SUPERSEDED: Code.APPROVAL_SUPERSEDED,
}


class Waits(StrEnum):
    """Where a question waits, which says for how long."""

    PROMPT = "prompt"
    PARKED = "parked"
    ESCALATION = "escalation"

    def within(self, settings: ApprovalSettings) -> Duration:
        """The time after which no answer is a no."""
        return {
            Waits.PROMPT: settings.prompt_deadline,
            Waits.PARKED: settings.parked_deadline,
            Waits.ESCALATION: settings.escalation_deadline,
        }[self]


class Asker(Protocol):
    """One channel that can put a question to a person now."""

    def ask(self, request: ApprovalRequest, look: Look) -> Answer | None:
        """Their answer; None where nobody answers here, or `look` shows that it has ended."""
        ...

    def tell(self, request: ApprovalRequest) -> None:
        """Tells them how it ended, where it was not their answer that ended it."""
        ...


def _never(_: ApprovalRequest) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Desk:
    """Where questions are put and answered, for one ledger and one person's settings."""

    journal: Journal
    settings: ApprovalSettings = _USUAL
    is_stale: IsStale = _never
    pause: Pause = field(default=time.sleep, repr=False)

    @property
    def requests(self) -> StoredRequests:
        """The requests themselves."""
        journal = self.journal
        return StoredRequests(journal.ledger, journal.ids, journal.clock, journal.context)

    def ask(self, question: Question, waits: Waits) -> ApprovalRequest:
        """Puts the question."""
        return self.requests.ask(question, waits.within(self.settings))

    def look(self, request_id: str) -> ApprovalRequest:
        """The request as it stands now."""
        requests = self.requests
        request = self._required(requests, request_id)
        if request.is_overdue(self.journal.clock.now()):
            requests.expire_overdue()
            return self._required(requests, request_id)
        if request.is_pending and self.is_stale(request):
            return requests.supersede(request_id)
        return self._unless_abandoned(requests, request)

    def answer(self, request_id: str, answer: Answer) -> ApprovalRequest:
        """Records the answer, or refuses it: not this one, not the first, or too late."""
        request = self.look(request_id)
        if request.is_pending and request.question.kind is RequestKind.CONSENT:
            ConsentAsk.of(request).require_takes(answer)
        # A no is taken to anything, also to what cannot be read any more.
        is_yes = request.is_pending and answer.outcome is Outcome.APPROVED
        if is_yes and request.question.kind is RequestKind.CAPABILITY:
            from consentry.decide.capabilityask import CapabilityAsk  # noqa: PLC0415 - few are

            CapabilityAsk.of(request).require_takes(answer)
        if is_yes and request.question.kind is RequestKind.ACTION:
            from consentry.decide.actionask import ActionAsk  # noqa: PLC0415 - as above

            ActionAsk.of(request).require_takes(answer)
        if is_yes and request.question.kind is RequestKind.TRANSACTION:
            from consentry.decide.transactionask import TransactionAsk  # noqa: PLC0415 - as above

            TransactionAsk.of(request).require_takes(answer)
        if request.status == Outcome.SUPERSEDED:
            require_approved(request)
        return self.requests.answer(request_id, answer)

    def wait(self, request: ApprovalRequest, asker: Asker | None = None) -> ApprovalRequest:
        """The request when it has ended, whichever way."""
        if asker is not None:
            request = self.asked(request, asker)
        if request.is_pending:
            request = self._watched(request.request_id)
            if asker is not None:
                asker.tell(request)
        return request

    def asked(self, request: ApprovalRequest, asker: Asker) -> ApprovalRequest:
        """The request after that asker was heard; still pending where nobody answered there."""
        if not request.is_pending:
            return request
        request_id = request.request_id
        answer = asker.ask(request, lambda: self.look(request_id))
        if answer is not None:
            return self._answered(request_id, answer, asker)
        request = self.look(request_id)
        if not request.is_pending:
            asker.tell(request)
        return request

    def _answered(self, request_id: str, answer: Answer, asker: Asker) -> ApprovalRequest:
        try:
            return self.answer(request_id, answer)
        except ConsentryError as lost:
            if lost.code not in (*_LOST, Code.APPROVAL_SUPERSEDED):
                raise
        request = self.look(request_id)
        asker.tell(request)
        return request

    def _watched(self, request_id: str) -> ApprovalRequest:
        pause = _FIRST_PAUSE
        while (request := self.look(request_id)).is_pending:
            self.pause(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return request

    def pending(self) -> Sequence[ApprovalRequest]:
        """Those that wait for an answer, the oldest first; what is overdue is denied first."""
        requests = self.requests
        requests.expire_overdue()
        found = [self._unless_abandoned(requests, each) for each in requests.pending()]
        return [each for each in found if each.is_pending]

    def found(self, named: str) -> ApprovalRequest:
        """The request with this id, or the only one whose id begins so."""
        requests = self.requests
        exact = requests.find(named)
        if exact is not None:
            return exact
        bare = named.removeprefix(f"{PREFIX}-")
        alike = requests.beginning(f"{PREFIX}-{bare}") if len(bare) >= _LEAST_PREFIX else []
        if len(alike) > 1:
            message = f"{len(alike)} approval requests have an id like `{named}`"
            raise UsageProblem(Code.ID_AMBIGUOUS, message)
        if not alike:
            raise UsageProblem(Code.ID_UNKNOWN, f"no approval request has the id `{named}`")
        return alike[0]

    def supersede_others(self, workspace: str, policy_hash: Digest) -> Sequence[ApprovalRequest]:
        """Ends what this machine asked about that workspace under another policy."""
        requests = self.requests
        return [
            requests.supersede(each.request_id)
            for each in requests.pending()
            if each.machine_id == self.journal.machine_id
            and each.question.policy_hash not in (None, policy_hash)
            and workspace_of(each) == workspace
        ]

    def _unless_abandoned(
        self, requests: StoredRequests, request: ApprovalRequest
    ) -> ApprovalRequest:
        """The request; superseded where the process is gone that held a program for its answer."""
        is_held = request.is_pending and request.question.kind is RequestKind.HOLD
        if not is_held or request.machine_id != self.journal.machine_id:
            return request
        if is_alive(HeldAsk.of(request).process):
            return request
        return requests.supersede(request.request_id, _ABANDONED)

    def _required(self, requests: StoredRequests, request_id: str) -> ApprovalRequest:
        request = requests.find(request_id)
        if request is None:
            raise UsageProblem(Code.ID_UNKNOWN, f"no approval request has the id `{request_id}`")
        return request


def require_approved(request: ApprovalRequest) -> Answer:
    """The yes; raises with the code of how it stands otherwise, naming who and when."""
    answer, named = request.answer, f"`{request.request_id}`"
    if answer is None:
        raise Refused(Code.APPROVAL_PENDING, f"{named} asks: {request.question.text}")
    if answer.outcome is Outcome.APPROVED:
        return answer
    when = (request.answered_at or request.deadline).shown()
    by = "" if answer.outcome is not Outcome.DENIED else f" by `{answer.by}`"
    why = f": {answer.reason}" if answer.reason else ""
    message = f"{named} ({request.question.text}) was {request.status}{by} at {when}{why}"
    raise Refused(_ENDINGS[answer.outcome], message)


def workspace_of(request: ApprovalRequest) -> str | None:
    """The workspace that a request is about, where it names one."""
    preview = request.question.preview
    found = preview.get("workspace") if isinstance(preview, dict) else None
    return found if isinstance(found, str) else None
