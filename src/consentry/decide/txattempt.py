"""An attempt at a transaction, and the steps it can take (CONTRACTS §3).

    RECEIVED > PREVIEWING > PREVIEW_READY > APPROVAL_PENDING > APPROVED > APPLYING > APPLIED
                                                                          > ROLLBACK_PENDING > ROLLED_BACK

with `FAILED_PRE_APPLY`, `REJECTED`, `RECOVERY_PENDING` and `FAILED_TERMINAL` beside that way; the table is
`record.transactionstates`. Pure: every method gives the attempt after the step, or raises `tx-state` where
the table has no such step and `tx-approval` where the approval does not fit. Rules kept:

- Nothing becomes `APPLYING` without an approval that is bound to this transaction, this attempt, this preview
  and this revision, of somebody whose role may give it, in its time.
- An attempt that is `APPLYING`, `ROLLBACK_PENDING` or `RECOVERY_PENDING` has exactly one commit that may have
  taken effect, with a key of its own; each new try has a new one, so that a late one is told apart.
- A violation is remembered until the attempt is over: from then on it can only be taken back.
"""

from typing import Any, Final

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.units import Duration
from consentry.base.values import dataclass, replace
from consentry.decide.documentstore import CommitKind
from consentry.decide.fields import Fields, as_json, check_text, problem
from consentry.decide.identity import Role
from consentry.decide.txparts import (
    Approval,
    Decision,
    DocumentKeeper,
    ErrorClass,
    RecoveryAction,
    TxError,
    TxOrigin,
    Worker,
)
from consentry.decide.txpreview import commit_name
from consentry.record.transactionstates import TransactionState, attempt_after, is_legal

PREFIX: Final = "tx"
_S = TransactionState
MOST_KEY: Final = 200
_FIELDS: Final = (
    "txId",
    "attemptNo",
    "documentId",
    "state",
    "version",
    "origin",
    "ttlSeconds",
    "createdAt",
    "changedAt",
    "baseRevision",
    "candidateRevision",
    "previewHash",
    "requestId",
    "approval",
    "applyKey",
    "rollbackKey",
    "tries",
    "commitId",
    "error",
    "violation",
    "worker",
    "recoverBy",
    "keeper",
)


@dataclass(frozen=True, slots=True)
class Violation:
    """What broke the capability policy while the attempt was applied."""

    capability_id: str
    why: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt as it stands; its operations, preview and journal are kept beside it."""

    tx_id: str
    attempt_no: int
    document_id: str
    state: TransactionState
    origin: TxOrigin
    ttl_seconds: int
    created_at: Instant
    changed_at: Instant
    version: int = 0
    base_revision: str | None = None
    candidate_revision: str | None = None
    preview_hash: Digest | None = None
    request_id: str | None = None
    approval: Approval | None = None
    apply_key: str | None = None
    rollback_key: str | None = None
    tries: int = 0
    commit_id: str | None = None
    error: TxError | None = None
    violation: Violation | None = None
    worker: Worker | None = None
    recover_by: Instant | None = None
    keeper: DocumentKeeper = DocumentKeeper.HOST

    @property
    def is_committed(self) -> bool:
        """Whether its change is in the document, as far as is known."""
        return self.state in (_S.APPLIED, _S.ROLLBACK_PENDING)

    @property
    def uncertain_kind(self) -> CommitKind:
        """Which of its commits may or may not have taken effect."""
        return CommitKind.APPLY if self.rollback_key is None else CommitKind.ROLLBACK

    @property
    def commit_name(self) -> str:
        """What tells its commit from that of every other attempt; the revision says it, too."""
        return commit_name(self.tx_id, self.attempt_no)

    @property
    def commit_key(self) -> str:
        """The key of the commit that is under way: never used for another try."""
        key = self.rollback_key or self.apply_key
        return f"{self.tx_id}:{self.attempt_no}:{self.uncertain_kind}:{self.tries}:{key}"

    def previewing(self, now: Instant) -> "Attempt":
        """Begins to work out the preview; after a failure, of the next attempt."""
        number = attempt_after(self.state, _S.PREVIEWING, self.attempt_no)
        if number == self.attempt_no:
            return self._to(_S.PREVIEWING, now)
        fresh = Attempt(
            self.tx_id,
            number,
            self.document_id,
            self.state,
            self.origin,
            self.ttl_seconds,
            now,
            now,
            keeper=self.keeper,
        )
        return fresh._to(_S.PREVIEWING, now)

    def ready(self, preview_hash: Digest, base: str, candidate: str, now: Instant) -> "Attempt":
        """The preview is there."""
        return self._to(
            _S.PREVIEW_READY,
            now,
            preview_hash=preview_hash,
            base_revision=base,
            candidate_revision=candidate,
        )

    def asked(self, request_id: str | None, now: Instant) -> "Attempt":
        """Waits for a decision about its preview."""
        return self._to(_S.APPROVAL_PENDING, now, request_id=request_id)

    def approved(self, approval: Approval, now: Instant) -> "Attempt":
        """Somebody said yes to this preview."""
        after = self._to(_S.APPROVED, now, approval=approval)
        after.require_bound(approval)
        return after

    def rejected(self, error: TxError, now: Instant) -> "Attempt":
        """It is over without an effect."""
        return self._to(_S.REJECTED, now, error=error)

    def applying(self, key: str, worker: Worker, now: Instant) -> "Attempt":
        """Begins to carry it out under a key; the approval has to be bound to this very attempt."""
        _check_key(key)
        after = self._to(
            _S.APPLYING, now, apply_key=key, worker=worker, tries=self.tries + 1, error=None
        )
        if self.approval is None:
            raise Refused(Code.TX_APPROVAL, f"nobody approved `{self.tx_id}`")
        after.require_bound(self.approval)
        return after

    def failed(self, error: TxError, now: Instant) -> "Attempt":
        """It came to nothing before anything was written."""
        return self._to(_S.FAILED_PRE_APPLY, now, error=error, worker=None)

    def applied(self, commit_id: str, now: Instant) -> "Attempt":
        """Its change is in the document; where a roll-back was tried, that was given up."""
        return self._to(
            _S.APPLIED,
            now,
            commit_id=commit_id,
            worker=None,
            rollback_key=None,
            recover_by=None,
            error=None,
        )

    def rolling_back(self, key: str, worker: Worker, now: Instant) -> "Attempt":
        """Begins to take it back, from its own journal."""
        _check_key(key)
        return self._to(
            _S.ROLLBACK_PENDING, now, rollback_key=key, worker=worker, tries=self.tries + 1
        )

    def rolled_back(self, commit_id: str | None, now: Instant) -> "Attempt":
        """It is taken back for good; `commit_id` is None where nothing had taken effect."""
        return self._to(_S.ROLLED_BACK, now, commit_id=commit_id, worker=None, recover_by=None)

    def recovering(
        self, error: TxError, now: Instant, limit: Duration, violation: Violation | None = None
    ) -> "Attempt":
        """Nobody here knows whether its commit took effect, or a violation has to be taken back."""
        return self._to(
            _S.RECOVERY_PENDING,
            now,
            error=error,
            worker=None,
            recover_by=now.plus(limit),
            violation=violation or self.violation,
        )

    def to_be_undone(self, key: str) -> "Attempt":
        """While it recovers: its commit took effect although it must not, and another takes it back."""
        return replace(self, rollback_key=key, tries=self.tries + 1)

    def approved_again(self, now: Instant) -> "Attempt":
        """Nothing took effect and nothing will; it can be applied again while its approval lasts."""
        if self.violation is not None:
            raise _no_step(self, _S.APPROVED)
        return self._to(_S.APPROVED, now, worker=None, recover_by=None)

    def failed_for_good(self, error: TxError, now: Instant) -> "Attempt":
        """It cannot be settled; whoever operates the document has to look."""
        return self._to(_S.FAILED_TERMINAL, now, error=error, worker=None, recover_by=None)

    def require_bound(self, approval: Approval) -> None:
        """Raises unless that is a yes to exactly this attempt, by somebody who may give it."""
        bound = (approval.tx_id, approval.attempt_no, approval.preview_hash, approval.base_revision)
        if bound != (self.tx_id, self.attempt_no, self.preview_hash, self.base_revision):
            message = f"the approval of `{approval.tx_id}` is for another preview"
            raise Refused(Code.TX_APPROVAL, message)
        if approval.decision is not Decision.APPROVED:
            raise Refused(Code.TX_APPROVAL, f"`{self.tx_id}` was not approved")
        self.require_authority(approval.approver_role)

    def require_authority(self, role: Role) -> None:
        """Raises unless somebody in that role may approve it."""
        rule = self.origin.rule
        if rule is None:
            return
        wanted = rule.approver
        if role in (Role.VIEWER, Role.SYSTEM) or (
            wanted is not None and role not in (wanted, Role.OWNER)
        ):
            named = wanted or "a person"
            message = f"only somebody who is `{named}` may approve `{self.tx_id}`, not `{role}`"
            raise Refused(Code.TX_APPROVAL, message)

    def lapsed(self, now: Instant) -> TxError | None:
        """What stands against applying it now, by its approval alone.

        Behind its end or as long before its beginning: a clock that was set back lets no approval live on.
        """
        approval = self.approval
        if approval is not None:
            span = approval.ttl_seconds * 1000
            if abs(now.unix_ms - approval.decision_at.unix_ms) < span:
                return None
        return TxError(
            Code.TX_APPROVAL.value,
            ErrorClass.EXPIRED,
            safe_to_retry=True,
            action=RecoveryAction.PREVIEW_AGAIN,
            why="the approval has expired",
        )

    def require_state(self, *states: TransactionState) -> None:
        """Raises unless it is in one of these."""
        if self.state not in states:
            wanted = " or ".join(f"`{each}`" for each in states)
            message = f"`{self.tx_id}` is `{self.state}`, and has to be {wanted} for this"
            raise Refused(Code.TX_STATE, message)

    def _to(self, state: TransactionState, now: Instant, **changes: Any) -> "Attempt":
        if not is_legal(self.state, state):
            raise _no_step(self, state)
        changed_at = max(now, self.changed_at)
        return replace(self, state=state, changed_at=changed_at, **changes)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are kept and told."""
        violation = self.violation
        return {
            "txId": self.tx_id,
            "attemptNo": self.attempt_no,
            "documentId": self.document_id,
            "state": self.state.value,
            "version": self.version,
            "origin": self.origin.to_json(),
            "ttlSeconds": self.ttl_seconds,
            "createdAt": str(self.created_at),
            "changedAt": str(self.changed_at),
            "baseRevision": self.base_revision,
            "candidateRevision": self.candidate_revision,
            "previewHash": self.preview_hash,
            "requestId": self.request_id,
            "approval": None if self.approval is None else self.approval.to_json(),
            "applyKey": self.apply_key,
            "rollbackKey": self.rollback_key,
            "tries": self.tries,
            "commitId": self.commit_id,
            "error": None if self.error is None else self.error.kept(),
            "violation": None
            if violation is None
            else {"capabilityId": violation.capability_id, "why": violation.why},
            "worker": None if self.worker is None else self.worker.to_json(),
            "recoverBy": as_json(self.recover_by),
            "keeper": self.keeper.value,
        }

    @classmethod
    def from_json(cls, document: object) -> "Attempt":
        """Reads what `to_json` writes."""
        fields = Fields(document, _FIELDS)
        value = fields.value
        return cls(
            tx_id=fields.text("txId"),
            attempt_no=fields.whole("attemptNo"),
            document_id=fields.text("documentId"),
            state=fields.member("state", TransactionState),
            version=fields.whole("version"),
            origin=TxOrigin.from_json(value("origin")),
            ttl_seconds=fields.whole("ttlSeconds"),
            created_at=fields.instant("createdAt"),
            changed_at=fields.instant("changedAt"),
            base_revision=fields.optional_text("baseRevision"),
            candidate_revision=fields.optional_text("candidateRevision"),
            preview_hash=fields.optional_digest("previewHash"),
            request_id=fields.optional_text("requestId"),
            approval=None if value("approval") is None else Approval.from_json(value("approval")),
            apply_key=fields.optional_text("applyKey"),
            rollback_key=fields.optional_text("rollbackKey"),
            tries=fields.whole("tries"),
            commit_id=fields.optional_text("commitId"),
            error=None if value("error") is None else TxError.from_json(value("error")),
            violation=_violation(value("violation")),
            worker=None if value("worker") is None else Worker.from_json(value("worker")),
            recover_by=fields.optional_instant("recoverBy"),
            keeper=fields.member("keeper", DocumentKeeper),
        )


def received(
    tx_id: str,
    document_id: str,
    origin: TxOrigin,
    ttl_seconds: int,
    now: Instant,
    keeper: DocumentKeeper = DocumentKeeper.HOST,
) -> Attempt:
    """The first attempt of a transaction that was just asked for."""
    return Attempt(tx_id, 1, document_id, _S.RECEIVED, origin, ttl_seconds, now, now, keeper=keeper)


def _violation(document: object) -> Violation | None:
    if document is None:
        return None
    fields = Fields(document, ("capabilityId", "why"))
    return Violation(fields.text("capabilityId"), fields.text("why"))


def _check_key(key: str) -> None:
    check_text("idempotencyKey", key)
    if len(key) > MOST_KEY or not key.isprintable():
        raise problem("idempotencyKey", f"a key has 1 to {MOST_KEY} printable letters")


def _no_step(attempt: Attempt, state: TransactionState) -> Refused:
    message = f"`{attempt.tx_id}` is `{attempt.state}`, and cannot become `{state}`"
    return Refused(Code.TX_STATE, message)
