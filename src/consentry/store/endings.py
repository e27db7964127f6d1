"""What is recorded when an approval request ends: its own event, and what follows from the ending.

Only an escalation, of code or of a module, and a transaction have anything that follows; what knows of it
is loaded where one ends, because most programs never see one.
"""

from typing import Final

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.values import dataclass
from consentry.decide.approval import ANSWER_FIELDS, ApprovalRequest
from consentry.decide.capabilitycode import subject_of
from consentry.decide.question import Outcome, RequestKind
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.store.journal import About, Journal, picked
from consentry.store.ledger import Change

SET_CHANGED: Final = "the capability was given another permission set"


@dataclass(frozen=True, slots=True)
class Ending:
    """The events of an ending, and what else must hold or change with them."""

    drafts: tuple[Draft, ...]
    change: Change | None = None


def ending_of(journal: Journal, request: ApprovalRequest, now: Instant) -> Ending:
    """All that is written when the request ends so; raises `Lapsed` for a yes that opens nothing."""
    event, payload = _TOLD[request.status](request.to_json())
    about = about_request(request)
    own = journal.draft(event, about, payload, now)
    match request.question.kind:
        case RequestKind.ESCALATION:
            from consentry.store.escalations import consequence_of  # noqa: PLC0415 - see above
        case RequestKind.CAPABILITY:
            from consentry.store.capabilityescalations import consequence_of  # noqa: PLC0415
        case RequestKind.TRANSACTION:
            from consentry.store.transactionanswers import consequence_of  # noqa: PLC0415
        case RequestKind.ACTION if request.status == Outcome.APPROVED:
            from consentry.store.capabilityescalations import still_open  # noqa: PLC0415

            return Ending((own,), still_open(request))
        case _:
            return Ending((own,))
    drafts, change = consequence_of(journal, request, about, now)
    return Ending((own, *drafts), change)


def beginning_of(journal: Journal, request: ApprovalRequest, now: Instant) -> tuple[Draft, ...]:
    """All that is recorded when the question is put."""
    about = about_request(request)
    own = journal.draft(EventType.APPROVAL_REQUESTED, about, request.to_json(), now)
    if request.question.kind is not RequestKind.CAPABILITY:
        return (own,)
    from consentry.store.capabilityescalations import asking_drafts  # noqa: PLC0415 - see above

    return (own, *asking_drafts(journal, request, about, now))


def has_moved_a_set(settled: ApprovalRequest) -> bool:
    """Whether a saved capability has another set now, so that what else it asks for is outdated."""
    question = settled.question
    is_yes = settled.status == Outcome.APPROVED and question.kind is RequestKind.ESCALATION
    return is_yes and question.subject.startswith(subject_of(""))


def about_request(request: ApprovalRequest) -> About:
    """What an event about the request says of it."""
    question, answer = request.question, request.answer
    return About(
        question.subject,
        actor=None if answer is None else answer.by,
        session_id=question.session_id,
        policy_hash=question.policy_hash,
    )


def _answered(document: dict[str, Json]) -> tuple[EventType, dict[str, Json]]:
    payload = {**picked(document, "requestId", *ANSWER_FIELDS), "decision": document["status"]}
    return EventType.APPROVAL_ANSWERED, payload


def _expired(document: dict[str, Json]) -> tuple[EventType, dict[str, Json]]:
    return EventType.APPROVAL_EXPIRED, picked(document, "requestId", "deadline")


def _superseded(document: dict[str, Json]) -> tuple[EventType, dict[str, Json]]:
    payload = {"requestId": document["requestId"], "why": document["reason"]}
    return EventType.APPROVAL_SUPERSEDED, payload


_TOLD = {
    "approved": _answered,
    "denied": _answered,
    "expired": _expired,
    "superseded": _superseded,
}
