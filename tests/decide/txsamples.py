"""An attempt at every state, for tests to depart from."""

from collections.abc import Callable
from typing import Any

from consentry.base.clock import Instant
from consentry.base.units import Duration
from consentry.decide.capabilitycheck import ModuleIdentity, Origin
from consentry.decide.identity import Role
from consentry.decide.txattempt import Attempt, Violation, received
from consentry.decide.txparts import (
    Approval,
    Decision,
    ErrorClass,
    RecoveryAction,
    TxError,
    TxOrigin,
    Worker,
)
from consentry.declare.hostdescription import ApprovalLevel, ApprovalRule
from consentry.record.transactionstates import TransactionState
from tests.decide.samples import DIGEST, LEADER, MACHINE, NOW, OWNER, SESSION, sample_id

S = TransactionState
TX = sample_id("tx")
REQUEST = sample_id("request")
BASE, CANDIDATE = "sha256:" + "0" * 64, "sha256:" + "1" * 64
LIMIT = Duration(60_000)
RULE = ApprovalRule("changes what people wrote", ApprovalLevel.HARD, "operator")
WRONG = TxError("tx-conflict", ErrorClass.CONFLICT, True, RecoveryAction.PREVIEW_AGAIN, "why")
VIOLATION = Violation("state.write.tx", "nobody has granted it")
WORKER = Worker(MACHINE, LEADER, NOW.plus(LIMIT))
MODULE = ModuleIdentity("note-board", "word-count", "1.2.3", DIGEST)


def origin(**changes: Any) -> TxOrigin:
    """An action of a module."""
    fields: dict[str, Any] = {
        "host_id": "note-board",
        "proposed_by": OWNER,
        "label": "Add a note",
        "module": MODULE,
        "action_id": "add",
        "action_run_id": sample_id("action"),
        "origin": Origin.INTERACTIVE,
        "commands": ("notes.add",),
        "needed": ("state.write.tx",),
        "session_id": SESSION,
        "rule": RULE,
    }
    return TxOrigin(**{**fields, **changes})


def approval(**changes: Any) -> Approval:
    """The owner's yes to what `attempt_at` previews."""
    fields: dict[str, Any] = {
        "tx_id": TX,
        "attempt_no": 1,
        "preview_hash": DIGEST,
        "base_revision": BASE,
        "approver_id": OWNER,
        "approver_role": Role.OWNER,
        "decision": Decision.APPROVED,
        "decision_at": NOW,
        "ttl_seconds": 600,
        "request_id": REQUEST,
    }
    return Approval(**{**fields, **changes})


def fresh(**changes: Any) -> Attempt:
    """One that was just asked for."""
    return received(TX, "note-board", origin(**changes), 600, NOW)


def _approved(attempt: Attempt, now: Instant) -> Attempt:
    if attempt.state is S.RECOVERY_PENDING:
        return attempt.approved_again(now)
    return attempt.approved(approval(attempt_no=attempt.attempt_no), now)


_STEPS: dict[TransactionState, Callable[[Attempt, Instant], Attempt]] = {
    S.PREVIEWING: lambda attempt, now: attempt.previewing(now),
    S.PREVIEW_READY: lambda attempt, now: attempt.ready(DIGEST, BASE, CANDIDATE, now),
    S.APPROVAL_PENDING: lambda attempt, now: attempt.asked(REQUEST, now),
    S.APPROVED: _approved,
    S.APPLYING: lambda attempt, now: attempt.applying("key", WORKER, now),
    S.APPLIED: lambda attempt, now: attempt.applied("commit-1", now),
    S.ROLLBACK_PENDING: lambda attempt, now: attempt.rolling_back("undo", WORKER, now),
    S.ROLLED_BACK: lambda attempt, now: attempt.rolled_back("commit-2", now),
    S.RECOVERY_PENDING: lambda attempt, now: attempt.recovering(WRONG, now, LIMIT),
    S.FAILED_PRE_APPLY: lambda attempt, now: attempt.failed(WRONG, now),
    S.REJECTED: lambda attempt, now: attempt.rejected(WRONG, now),
    S.FAILED_TERMINAL: lambda attempt, now: attempt.failed_for_good(WRONG, now),
}


def step_to(attempt: Attempt, state: TransactionState, now: Instant = NOW) -> Attempt:
    """The attempt after the step that enters a state; raises where there is none."""
    return _STEPS[state](attempt, now)


WAYS: dict[TransactionState, tuple[TransactionState, ...]] = {
    S.RECEIVED: (),
    S.PREVIEWING: (S.PREVIEWING,),
    S.PREVIEW_READY: (S.PREVIEWING, S.PREVIEW_READY),
    S.APPROVAL_PENDING: (S.PREVIEWING, S.PREVIEW_READY, S.APPROVAL_PENDING),
}
WAYS[S.APPROVED] = (*WAYS[S.APPROVAL_PENDING], S.APPROVED)
WAYS[S.REJECTED] = (*WAYS[S.APPROVAL_PENDING], S.REJECTED)
WAYS[S.FAILED_PRE_APPLY] = (*WAYS[S.APPROVAL_PENDING], S.FAILED_PRE_APPLY)
WAYS[S.APPLYING] = (*WAYS[S.APPROVED], S.APPLYING)
WAYS[S.APPLIED] = (*WAYS[S.APPLYING], S.APPLIED)
WAYS[S.ROLLBACK_PENDING] = (*WAYS[S.APPLIED], S.ROLLBACK_PENDING)
WAYS[S.ROLLED_BACK] = (*WAYS[S.ROLLBACK_PENDING], S.ROLLED_BACK)
WAYS[S.RECOVERY_PENDING] = (*WAYS[S.APPLYING], S.RECOVERY_PENDING)
WAYS[S.FAILED_TERMINAL] = (*WAYS[S.RECOVERY_PENDING], S.FAILED_TERMINAL)


def attempt_at(state: TransactionState, **changes: Any) -> Attempt:
    """An attempt that came to a state by its shortest way."""
    attempt = fresh(**changes)
    for each in WAYS[state]:
        attempt = step_to(attempt, each)
    return attempt
