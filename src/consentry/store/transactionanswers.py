"""What follows from the end of a question about a transaction, in the transaction that ends it.

A yes makes the attempt `APPROVED`, with an approval bound to exactly what was shown; a no, or no answer in
time, makes it `REJECTED`; a question that lost its ground makes it `FAILED_PRE_APPLY`, from where a new
preview can be made. There is no yes without the step, and no step that a crash could lose.
"""

from typing import Final

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.decide.approval import ApprovalRequest
from consentry.decide.question import Answer, Outcome
from consentry.decide.transactionask import TransactionAsk
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import Approval, Decision, ErrorClass, RecoveryAction, TxError
from consentry.decide.txstep import Caller, Stage, Step
from consentry.record.envelope import Draft
from consentry.record.transactionstates import TransactionState
from consentry.store.database import Transaction
from consentry.store.journal import About, Journal
from consentry.store.ledger import Change
from consentry.store.rows import Lapsed, exists
from consentry.store.transactions import StoredTransactions

_GONE: Final = "the module is not registered any more as it was when it asked"
_OTHER: Final = "the transaction does not wait for this answer any more"
_STILL: Final = (
    "SELECT 1 FROM module WHERE host_id = ? AND module_id = ? "
    "AND module_version = ? AND package_digest = ?"
)
_CODES: Final = {
    Outcome.DENIED: (Code.APPROVAL_DENIED, ErrorClass.REJECTED, RecoveryAction.NONE),
    Outcome.EXPIRED: (Code.APPROVAL_EXPIRED, ErrorClass.EXPIRED, RecoveryAction.NONE),
    Outcome.SUPERSEDED: (
        Code.APPROVAL_SUPERSEDED,
        ErrorClass.CONFLICT,
        RecoveryAction.PREVIEW_AGAIN,
    ),
}


def consequence_of(
    journal: Journal,
    settled: ApprovalRequest,
    about: About,  # noqa: ARG001 - a transaction's events are about the transaction
    now: Instant,
) -> tuple[tuple[Draft, ...], Change | None]:
    """What the ending brings with it; raises `Lapsed` where a yes opens nothing."""
    answer = settled.answer
    is_yes = settled.status == Outcome.APPROVED
    try:
        ask = TransactionAsk.of(settled)
    except (BadInput, Refused) as wrong:
        if is_yes:
            message = f"`{settled.request_id}` cannot be approved: {wrong.message}"
            raise Refused(Code.ANSWER_REFUSED, message) from wrong
        return (), None
    stored = StoredTransactions(journal)
    attempt = stored.find(ask.tx_id, ask.attempt_no)
    waits = attempt is not None and attempt.state is TransactionState.APPROVAL_PENDING
    if answer is None or attempt is None or not waits or attempt.request_id != settled.request_id:
        if is_yes:
            raise Lapsed(_OTHER)
        return (), None
    caller = Caller(answer.by, answer.role, settled.request_id)
    after = _after(attempt, ask, settled, answer, now)
    _, drafts, change = stored.taking(Step(attempt.state, after, Stage.APPROVE, caller))
    return drafts, _held(change, ask) if is_yes else change


def _after(
    attempt: Attempt, ask: TransactionAsk, settled: ApprovalRequest, answer: Answer, now: Instant
) -> Attempt:
    if answer.outcome is Outcome.APPROVED:
        ask.require_takes(answer)
        approval = Approval(
            ask.tx_id,
            ask.attempt_no,
            ask.preview_hash,
            ask.base_revision,
            answer.by,
            answer.role,
            Decision.APPROVED,
            now,
            ask.ttl_seconds,
            settled.request_id,
        )
        return attempt.approved(approval, now)
    code, kind, action = _CODES[answer.outcome]
    is_superseded = answer.outcome is Outcome.SUPERSEDED
    error = TxError(code.value, kind, is_superseded, action, answer.reason or settled.ending)
    return attempt.failed(error, now) if is_superseded else attempt.rejected(error, now)


def _held(change: Change, ask: TransactionAsk) -> Change:
    """Only while the module is the one that asked."""

    def held(transaction: Transaction) -> None:
        module = ask.origin.module
        if module is not None:
            place = (module.host_id, module.module_id, module.module_version, module.package_digest)
            if not exists(transaction, _STILL, place):
                raise Lapsed(_GONE)
        change(transaction)

    return held
