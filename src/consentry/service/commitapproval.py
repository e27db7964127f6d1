"""The second yes of a strict run: a commit is asked for, and answered for exactly one effect.

The request is one of the store's approval requests. It names the run and binds to the digest of its
effect; an answer to another digest, on another machine or of another kind opens nothing. Without
anybody to ask the commit is parked, and whoever runs it again finds the answer.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from consentry.base.canonical import Digest, Json
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.units import Duration
from consentry.base.values import dataclass
from consentry.decide.approval import PENDING, ApprovalRequest
from consentry.decide.question import Outcome, Question, RequestKind
from consentry.service import approvals
from consentry.service.approvals import Asker, Desk
from consentry.service.effects import EffectView
from consentry.service.keptruns import KeptRun, Place
from consentry.store.requests import StoredRequests

EffectAsker: TypeAlias = Callable[[EffectView], Asker | None]
"""Who asks with that effect in sight; None where there is nobody to ask."""

_MOST_SHOWN: Final = 1_000
_ENDED: Final = (Code.APPROVAL_DENIED, Code.APPROVAL_EXPIRED)
_ASK_AGAIN: Final = "`consentry commit --ask-again` puts the question once more"


def nobody(_: EffectView) -> None:
    """Where there is nobody to ask."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a commit is asked for."""

    asker: EffectAsker = nobody
    asks_again: bool = False


def require_approved(
    place: Place, run: KeptRun, digest: Digest, asking: Asking, view: Callable[[], EffectView]
) -> tuple[str, bool]:
    """The id of the request that was approved for this effect, and whether that was asked for now.

    Raises while there is none.
    """
    desk = Desk(place.journal)
    desk.requests.expire_overdue()
    request = _latest(desk.requests, place, run, digest)
    is_over = request is not None and request.status not in (PENDING, Outcome.APPROVED)
    is_void = request is not None and request.status == Outcome.SUPERSEDED
    if request is None or is_void or (is_over and asking.asks_again):
        request = desk.requests.ask(_question(run, digest, place), _within(place, run))
    was_asked = request.is_pending
    if was_asked and (asker := asking.asker(view())) is not None:
        request = desk.asked(request, asker)
    require_answer(request, place, run, digest)
    return request.request_id, was_asked


def require_answer(request: ApprovalRequest, place: Place, run: KeptRun, digest: Digest) -> None:
    """Raises unless this request is a yes to the commit of exactly this effect, here."""
    if not _is_about(request, place, run, digest):
        message = f"`{request.request_id}` was answered for another effect"
        raise Refused(Code.APPROVAL_DENIED, message)
    try:
        approvals.require_approved(request)
    except Refused as problem:
        if problem.code in _ENDED:
            problem.help_line = _ASK_AGAIN
        raise


def _latest(
    requests: StoredRequests, place: Place, run: KeptRun, digest: Digest
) -> ApprovalRequest | None:
    about = [each for each in requests.about(digest) if _is_about(each, place, run, digest)]
    return about[-1] if about else None


def _is_about(request: ApprovalRequest, place: Place, run: KeptRun, digest: Digest) -> bool:
    question = request.question
    preview = question.preview if isinstance(question.preview, dict) else {}
    return (
        question.kind is RequestKind.COMMIT
        and question.subject == run.subject
        and question.digest == digest
        and preview.get("permitId") == run.permit_id
        and request.machine_id == place.journal.machine_id
        and question.policy_hash == place.journal.context.policy_hash
    )


def _question(run: KeptRun, digest: Digest, place: Place) -> Question:
    impact = run.entry["impact"]
    preview: Json = {
        "runId": run.run_id,
        "permitId": run.permit_id,
        "workspace": run.entry["context"].get("workspace"),
        "filesWritten": impact["filesWritten"][:_MOST_SHOWN],
        "filesDeleted": impact["filesDeleted"][:_MOST_SHOWN],
        "files": run.effect.files,
    }
    return Question(
        kind=RequestKind.COMMIT,
        subject=run.subject,
        text=f"may {run.subject} change these files of the workspace?",
        preview=preview,
        digest=digest,
        policy_hash=_policy(place),
        session_id=place.journal.context.session_id,
    )


def _policy(place: Place) -> Digest | None:
    found = place.journal.context.policy_hash
    return None if found is None else Digest(found)


def _within(place: Place, run: KeptRun) -> Duration:
    """As long as the effect itself is kept."""
    until = run.kept_until or place.now()
    return until.since(place.now())
