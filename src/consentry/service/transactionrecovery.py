"""Settles what nobody knows, and takes back what must not be (CONTRACTS §3-recovery, §3-violation).

An attempt whose process is gone, or whose commit came back without an answer, is `RECOVERY_PENDING`: held,
and looked into by whoever looks at it next, in whichever process. The store's log decides, for good:

    its apply is there       APPLIED           and with a violation, taken back by a commit of its own
    its roll-back is there   ROLLED_BACK
    neither, and never will  APPROVED          with a violation ROLLED_BACK; after a tried roll-back APPLIED
    it cannot be told        it stays; past its limit FAILED_TERMINAL, which blocks every apply of the document

A violation that is taken back is `capability.rollback.executed`, one that cannot be is
`capability.rollback.failed`; either is recorded in the transaction of the step.
"""

from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, Refused
from consentry.decide.capabilitycheck import RejectCode
from consentry.decide.documentstore import CommitKind, CommitRecord
from consentry.decide.identity import SYSTEM
from consentry.decide.statechange import EntityWrite
from consentry.decide.txattempt import Attempt, Violation
from consentry.decide.txparts import ErrorClass, RecoveryAction, TxError
from consentry.decide.txpreview import revision_after
from consentry.decide.txstep import Caller, Stage, Step
from consentry.enforce.broker import CapabilityRejected
from consentry.record.transactionstates import TransactionState
from consentry.service.transactionplace import (
    NOTHING,
    TxPlace,
    apply_commit,
    commit_of,
    differs,
    has_taken_effect,
)
from consentry.store.rows import Overtaken
from consentry.store.transactions import TxChoice

_S = TransactionState
_UNDER_WAY: Final = (_S.APPLYING, _S.ROLLBACK_PENDING)
_UNSETTLED: Final = (*_UNDER_WAY, _S.RECOVERY_PENDING)
_MOST_TRIES: Final = 8
_AT_A_TIME: Final = 1000


class Recovery:
    """Settles the transactions of one document."""

    def __init__(self, place: TxPlace) -> None:
        self._place = place

    def settle_all(self) -> list[Attempt]:
        """Every attempt of the document that nobody works on any more, as it stands afterwards."""
        choice = TxChoice(document_id=self._place.document.document_id, states=_UNSETTLED)
        return [self.settled(each) for each in self._place.stored.listed(choice, _AT_A_TIME)]

    def settled(self, attempt: Attempt) -> Attempt:
        """The attempt as it stands after looking into it; unchanged where somebody works on it."""
        stored = self._place.stored
        for _ in range(_MOST_TRIES):
            if attempt.state not in _UNSETTLED:
                return attempt
            if attempt.state in _UNDER_WAY and self._place.is_working(attempt.worker):
                return attempt
            try:
                return self._looked_into(attempt)
            except Overtaken:
                attempt = stored.required(attempt.tx_id, attempt.attempt_no)
        return attempt

    def give_up(self, attempt: Attempt) -> None:
        """Has the store decide about the commit of one that is over, so that no late writer can make it.

        Raises `tx-unsettled` where it cannot say: who was only asleep could still write.
        """
        if attempt.apply_key is None:
            return
        try:
            self._place.document.settle(commit_of(attempt, (), "unknown", "unknown"))
        except Exception as problem:
            message = (
                f"the store of `{attempt.document_id}` cannot say what became of it: {problem}"
            )
            raise Refused(Code.TX_UNSETTLED, message) from problem

    def violated(self, begun: Attempt, refused: CapabilityRejected, caller: Caller) -> Attempt:
        """Holds an attempt that broke the policy after its writes began, and takes it back."""
        place, rejection = self._place, refused.rejection
        why = rejection.why or rejection.code.value
        violation = Violation(rejection.capability_id, why)
        error = TxError(
            RejectCode.POLICY_VIOLATION.value,
            ErrorClass.VIOLATION,
            safe_to_retry=False,
            action=RecoveryAction.RECONCILE,
            why=why,
        )
        beside = place.watch.refused(begun, refused, after_writes=True)
        held = begun.recovering(error, place.now(), place.terms.recovery, violation)
        step = Step(begun.state, held, Stage.RECOVER, caller, after_partial_apply=True)
        try:
            taken = place.stored.take(step, drafts=beside.drafts, change=beside.change)
        except Overtaken:
            return self.settled(place.stored.required(begun.tx_id, begun.attempt_no))
        return self.settled(taken)

    def _looked_into(self, attempt: Attempt) -> Attempt:
        place = self._place
        caller = place.caller(SYSTEM)
        if attempt.state in _UNDER_WAY:
            error = TxError(
                Code.INTERRUPTED.value,
                ErrorClass.INTERRUPTED,
                safe_to_retry=False,
                action=RecoveryAction.RECONCILE,
                why="the process that carried it out has ended",
            )
            held = attempt.recovering(error, place.now(), place.terms.recovery)
            attempt = place.stored.take(Step(attempt.state, held, Stage.RECOVER, caller))
        try:
            return self._decided(attempt, caller)
        except Overtaken:
            raise
        except Exception as problem:  # noqa: BLE001 - a store may raise anything
            return self._left(attempt, caller, str(problem) or type(problem).__name__)

    def _decided(self, attempt: Attempt, caller: Caller) -> Attempt:
        place = self._place
        writes = place.stored.journal(attempt)
        if attempt.uncertain_kind is CommitKind.ROLLBACK:
            undone = tuple(each.undone for each in writes)
            record = place.document.settle(commit_of(attempt, undone, "unknown", "unknown"))
            return self._rolled_back(attempt, writes, record, caller)
        commit = apply_commit(attempt, writes)
        record = place.document.settle(commit)
        if record is not None:
            _require_true(has_taken_effect(place.document, commit, record))
            if attempt.violation is not None:
                return self._undone(attempt, writes, caller)
            return self._ended(attempt, attempt.applied(record.commit_id, place.now()), caller)
        _require_true(place.document.read(()).revision != attempt.candidate_revision)
        now = place.now()
        if attempt.violation is not None:
            return self._ended(attempt, attempt.rolled_back(None, now), caller)
        return self._ended(attempt, attempt.approved_again(now), caller)

    def _rolled_back(
        self,
        attempt: Attempt,
        writes: tuple[EntityWrite, ...],
        record: CommitRecord | None,
        caller: Caller,
    ) -> Attempt:
        """How it ends whose roll-back may have taken effect."""
        place = self._place
        if record is not None:
            undone = tuple(each.undone for each in writes)
            base = str(attempt.candidate_revision)
            commit = commit_of(attempt, undone, base, record.revision)
            _require_true(has_taken_effect(place.document, commit, record))
            return self._ended(attempt, attempt.rolled_back(record.commit_id, place.now()), caller)
        if attempt.violation is not None:
            return self._undone(attempt, writes, caller)
        after = attempt.applied(str(attempt.commit_id), place.now())
        return self._ended(attempt, after, caller)

    def _undone(self, attempt: Attempt, writes: tuple[EntityWrite, ...], caller: Caller) -> Attempt:
        """Takes back a commit that took effect although it must not; from the journal, in one commit."""
        place = self._place
        attempt = place.stored.keep(attempt.to_be_undone(f"undo-{attempt.tx_id}"))
        base = place.document.read(()).revision
        changed = differs(place.document, writes)
        if changed is not None:
            message = f"`{changed.name.entity_id}` was changed since, and cannot be taken back"
            raise LedgerProblem(Code.TX_CONFLICT, message)
        undone = tuple(each.undone for each in writes)
        revision = revision_after(base, undone, attempt.commit_key)
        commit = commit_of(attempt, undone, base, revision)
        record = place.document.commit(commit, lambda: None)
        _require_true(has_taken_effect(place.document, commit, record))
        return self._ended(attempt, attempt.rolled_back(record.commit_id, place.now()), caller)

    def _left(self, attempt: Attempt, caller: Caller, why: str) -> Attempt:
        """It cannot be told now: it stays, or past its limit it is over, and blocks its document."""
        place, now = self._place, self._place.now()
        attempt = place.stored.required(attempt.tx_id, attempt.attempt_no)
        if attempt.state is not _S.RECOVERY_PENDING:
            return attempt
        if attempt.recover_by is None or now < attempt.recover_by:
            return attempt
        error = TxError(
            Code.TX_UNSETTLED.value,
            ErrorClass.STORE,
            safe_to_retry=False,
            action=RecoveryAction.RESOLVE,
            why=why,
        )
        return self._ended(attempt, attempt.failed_for_good(error, now), caller)

    def _ended(self, attempt: Attempt, after: Attempt, caller: Caller) -> Attempt:
        place, violation = self._place, attempt.violation
        failed = after.state is _S.FAILED_TERMINAL
        beside = (
            NOTHING if violation is None else place.watch.undone(after, violation, failed=failed)
        )
        since = attempt.changed_at
        step = Step(
            attempt.state,
            after,
            Stage.RECOVER,
            caller,
            duration_ms=place.now().since(since).milliseconds,
            after_partial_apply=violation is not None,
        )
        return place.stored.take(step, drafts=beside.drafts, change=beside.change)


def _require_true(is_true: bool) -> None:  # noqa: FBT001 - named by what it is called with
    if not is_true:
        message = "the document and the log of its store say different things"
        raise LedgerProblem(Code.TX_STORE, message)
