"""One step of an attempt, as it is recorded: from where to where, by whom, in which part of the protocol."""

from enum import StrEnum

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.values import dataclass
from consentry.decide.identity import Identity, Role
from consentry.decide.txattempt import Attempt
from consentry.record.transactionstates import TransactionState

_S = TransactionState
_BOUND = (_S.APPROVED, _S.APPLYING)
_WRONG = (_S.FAILED_PRE_APPLY, _S.RECOVERY_PENDING, _S.FAILED_TERMINAL, _S.REJECTED)
_WROTE = (_S.APPLIED, _S.ROLLED_BACK)


class Stage(StrEnum):
    """Which part of the protocol takes a step."""

    RECEIVE = "receive"
    PREVIEW = "preview"
    APPROVE = "approve"
    APPLY = "apply"
    ROLLBACK = "rollback"
    RECOVER = "recover"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who takes the steps of one call, and the id that these steps share."""

    actor: Identity
    role: Role
    call_id: str


@dataclass(frozen=True, slots=True)
class Step:
    """An attempt before and after."""

    previous: TransactionState
    after: Attempt
    stage: Stage
    caller: Caller
    duration_ms: int | None = None
    after_partial_apply: bool = False

    def payload(self, now: Instant) -> dict[str, Json]:
        """What the event says of it (CONTRACTS §3-audit)."""
        after, following = self.after, self.after.state
        origin, module = after.origin, after.origin.module
        is_keyed = self.stage in (Stage.APPLY, Stage.ROLLBACK, Stage.RECOVER)
        bound = after.approval if following in _BOUND else None
        error = after.error if following in _WRONG else None
        return {
            "timestamp": str(now),
            "txId": after.tx_id,
            "attemptNo": after.attempt_no,
            "track": origin.track.value,
            "stage": self.stage.value,
            "prevState": self.previous.value,
            "nextState": following.value,
            "actorId": self.caller.actor,
            "actorRole": self.caller.role.value,
            "requestId": self.caller.call_id,
            "idempotencyKey": (after.rollback_key or after.apply_key) if is_keyed else None,
            "documentId": after.document_id,
            "hostId": origin.host_id,
            "moduleId": None if module is None else module.module_id,
            "moduleVersion": None if module is None else module.module_version,
            "actionId": origin.action_id,
            "actionRunId": origin.action_run_id,
            "approvalRequired": origin.approval_required,
            "baseRevision": after.base_revision,
            "candidateRevision": after.candidate_revision,
            "previewHash": after.preview_hash,
            "approval": None if bound is None else bound.to_json(),
            "commitId": after.commit_id if following in _WROTE else None,
            "durationMs": self.duration_ms,
            "error": None if error is None else error.to_json(),
            "afterPartialApply": self.after_partial_apply,
        }
