"""Carries out what an answer means, in the process that answered: consent, commit, or discard.

The process that asked may do the same at the same moment. Of the two one does it and the other finds
it done. What belongs to another machine is only answered here, and carried out there.

For code that wants a larger permission set nothing is left to do: the set is stored by the transaction
that writes the answer. What is held in a run is opened by that run, which watches for the answer. What a
module asks for is granted by the transaction that writes the answer, too; here it is only looked up. A
change that was approved is applied by whoever keeps its document, or by command, and not by the answer.
"""

from typing import TYPE_CHECKING

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consent import Consent
from consentry.decide.lasting import Lasts
from consentry.decide.question import Outcome, RequestKind
from consentry.service.consenting import consent_for
from consentry.service.effects import EffectView, effect_of
from consentry.service.keptruns import Place
from consentry.service.rehearsals import Settled, commit_run, discard_run

if TYPE_CHECKING:
    from consentry.decide.grant import Grant
    from consentry.decide.txattempt import Attempt


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that counts, and what came of it here."""

    request: ApprovalRequest
    consent: Consent | None = None
    settled: Settled | None = None
    grants: "tuple[Grant, ...]" = ()
    transaction: "Attempt | None" = None


def carried_out(place: Place, request: ApprovalRequest) -> Answered:
    """What the answer of this request means, done."""
    is_yes = request.status == Outcome.APPROVED
    if request.question.kind is RequestKind.CONSENT:
        return Answered(request, consent=consent_for(place.journal, request) if is_yes else None)
    if request.question.kind is RequestKind.CAPABILITY:
        return Answered(request, grants=_granted(place, request) if is_yes else ())
    if request.question.kind is RequestKind.TRANSACTION:
        return Answered(request, transaction=_transaction_of(place, request))
    run = run_of(place, request)
    if run is None:
        return Answered(request)
    try:
        settled = commit_run(place, run) if is_yes else discard_run(place, run)
    except ConsentryError as problem:
        if problem.code is not Code.EFFECT_SETTLED:
            raise
        return Answered(request)  # by whoever asked
    return Answered(request, settled=settled)


def _granted(place: Place, request: ApprovalRequest) -> "tuple[Grant, ...]":
    """What the yes to a module's question stands for: given with it, or the same one from before."""
    from consentry.decide.capabilityask import CapabilityAsk  # noqa: PLC0415 - few are a module's
    from consentry.store.grants import grants_where  # noqa: PLC0415 - as above

    ask, answer = CapabilityAsk.of(request), request.answer
    names = {each.capability_id for each in ask.wanted}
    scope = "session" if answer is not None and answer.lasts is Lasts.SESSION else "persistent"
    session_id = ask.session_id if scope == "session" else None
    module = ask.module
    where = (
        "host_id = ? AND module_id = ? AND module_version = ? AND package_digest = ? "
        "AND scope = ? AND coalesce(session_id, '') = ? AND revoked_at IS NULL"
    )
    content = (module.host_id, module.module_id, module.module_version, module.package_digest)
    found = grants_where(place.journal, where, (*content, scope, session_id or ""))
    by = None if answer is None else answer.by
    return tuple(
        each for each in found if each.terms.capability_id in names and each.terms.given_by == by
    )


def _transaction_of(place: Place, request: ApprovalRequest) -> "Attempt | None":
    """The attempt as the answer left it; a no is taken also to what cannot be read any more."""
    from consentry.decide.transactionask import TransactionAsk  # noqa: PLC0415 - as above
    from consentry.store.transactions import StoredTransactions  # noqa: PLC0415 - as above

    try:
        ask = TransactionAsk.of(request)
    except ConsentryError:
        return None
    return StoredTransactions(place.journal).find(ask.tx_id, ask.attempt_no)


def run_of(place: Place, request: ApprovalRequest) -> str | None:
    """The run of this machine whose commit a request asks for."""
    preview = request.question.preview
    is_here = request.machine_id == place.journal.machine_id
    if request.question.kind is not RequestKind.COMMIT or not is_here:
        return None
    run = preview.get("runId") if isinstance(preview, dict) else None
    return run if isinstance(run, str) else None


def effect_in_sight(place: Place, request: ApprovalRequest) -> EffectView | None:
    """The effect that a request is about, where it lies on this machine."""
    run = run_of(place, request)
    return None if run is None else effect_of(place, run)
