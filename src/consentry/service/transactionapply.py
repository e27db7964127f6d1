"""Carries an approved transaction out, and takes an applied one back (CONTRACTS §3-apply, §3-rollback).

    1  a key that was committed before is answered with how that ended, and nothing is done again
    2  the approval, the preview and the authority are looked at; what stands against it makes the attempt
       `FAILED_PRE_APPLY`, and nothing was written
    3  `APPLYING` is on disk, with the key, the approval and the use of the capability, before any write
    4  the store commits, whole or not at all, if the document is still at the revision that was shown; before
       some of the writes, and once before all take effect, the watch is asked whether it still may
    5  what the store says it did is read back; only then is the attempt `APPLIED`

What is refused after writes began, and what nobody knows, goes to `transactionrecovery`. A roll-back goes the
same way, from the journal of the attempt: every entity has to be what the attempt left, or it is refused.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, LedgerProblem, Refused
from consentry.decide.documentstore import Commit, CommitRecord, KeyGivenUp, StoreConflict
from consentry.decide.statechange import EntityWrite
from consentry.decide.txattempt import Attempt
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
from consentry.service.transactionrecovery import Recovery
from consentry.service.transactionrefusal import steps_of_refusal
from consentry.service.watchedwrites import WatchedWrites
from consentry.store.modulechecks import Recording
from consentry.store.rows import Overtaken

_S = TransactionState
_MOST_TRIES: Final = 16


class Applying:
    """Applies and rolls back the transactions of one document."""

    def __init__(self, place: TxPlace) -> None:
        self._place = place
        self._recovery = Recovery(place)

    def apply(self, tx_id: str, key: str | None = None) -> Attempt:
        """Applies it once, however often this is asked for with the same key."""
        place = self._place
        caller = place.caller()
        for _ in range(_MOST_TRIES):
            attempt = self._recovery.settled(place.required(tx_id))
            used = key or f"apply-{attempt.tx_id}-{attempt.attempt_no}"
            if _is_repeated(attempt, used):
                return attempt
            _require_idle(attempt)
            attempt.require_state(_S.APPROVED)
            try:
                return self._applied(attempt, used, caller)
            except Overtaken:
                continue
        raise LedgerProblem(Code.LEDGER_BUSY, "others keep changing this transaction at once")

    def roll_back(self, tx_id: str, key: str | None = None) -> Attempt:
        """Takes it back once, from its own journal; refused where its entities were changed since."""
        place = self._place
        caller = place.caller()
        for _ in range(_MOST_TRIES):
            attempt = self._recovery.settled(place.required(tx_id))
            used = key or f"rollback-{attempt.tx_id}-{attempt.attempt_no}"
            if attempt.state is _S.ROLLED_BACK and attempt.rollback_key == used:
                return attempt
            _require_idle(attempt)
            attempt.require_state(_S.APPLIED)
            try:
                return self._rolled_back(attempt, used, caller)
            except Overtaken:
                continue
        raise LedgerProblem(Code.LEDGER_BUSY, "others keep changing this transaction at once")

    def _applied(self, attempt: Attempt, key: str, caller: Caller) -> Attempt:
        place, before = self._place, attempt
        now = place.now()
        writes = place.stored.journal(attempt)
        begun = attempt.applying(key, place.worker(), now)
        step = Step(before.state, begun, Stage.APPLY, caller)
        try:
            against = begun.lapsed(now)
            beside = NOTHING if against is not None else place.watch.begin(begun)
        except CapabilityRejected as refused:
            return self._refused(begun, refused, caller, step)
        if against is not None:
            return self._failed(begun, against, caller, step)
        begun = place.stored.take(step, drafts=beside.drafts, change=beside.change)
        return self._committed(begun, writes, caller)

    def _committed(self, begun: Attempt, writes: Sequence[EntityWrite], caller: Caller) -> Attempt:
        """What comes of the commit itself, however the store ends it."""
        place, since = self._place, begun.changed_at.unix_ms
        commit = apply_commit(begun, writes)
        watched = WatchedWrites(place, begun, len(writes))
        try:
            record = place.document.commit(commit, watched)
        except StoreConflict as conflict:
            if self._may_be_there(commit):
                return self._unknown(begun, conflict, caller)
            return self._failed(begun, _conflict(conflict), caller)
        except KeyGivenUp:
            return place.stored.required(begun.tx_id, begun.attempt_no)
        except BaseException as problem:  # noqa: BLE001 - also an interrupt leaves it unknown
            refusal = watched.refusal
            if refusal is None or not isinstance(problem, Exception):
                return self._unknown(begun, problem, caller)
            is_before = problem is refusal and not watched.has_begun
            if is_before and not self._may_be_there(commit):
                return self._refused(begun, refusal, caller)
            return self._recovery.violated(begun, refusal, caller)
        refusal = watched.refused_after_all()
        if refusal is not None:
            return self._recovery.violated(begun, refusal, caller)
        return self._noted(begun, commit, record, caller, since)

    def _failed(
        self, begun: Attempt, error: TxError, caller: Caller, first: Step | None = None
    ) -> Attempt:
        """It came to nothing before a write; `first` is the step to `APPLYING` where it is not taken yet."""
        failed = Step(_S.APPLYING, begun.failed(error, self._place.now()), Stage.APPLY, caller)
        steps = [failed] if first is None else [first, failed]
        return self._taken(begun, steps, NOTHING)

    def _refused(
        self, begun: Attempt, refused: CapabilityRejected, caller: Caller, first: Step | None = None
    ) -> Attempt:
        """The same, because the module may not."""
        place = self._place
        steps = steps_of_refusal(place, begun, refused, Stage.APPLY, caller)
        beside = place.watch.refused(begun, refused, after_writes=False)
        return self._taken(begun, steps if first is None else [first, *steps], beside)

    def _may_be_there(self, commit: Commit) -> bool:
        """Whether a commit that was refused may have taken effect all the same: a no is not believed either."""
        try:
            return self._place.document.read(()).revision == commit.revision
        except Exception:  # noqa: BLE001 - a store may raise anything
            return True

    def _noted(
        self, begun: Attempt, commit: Commit, record: CommitRecord, caller: Caller, since_ms: int
    ) -> Attempt:
        """The end of a commit that the store says took effect."""
        place = self._place
        try:
            is_true = has_taken_effect(place.document, commit, record)
        except Exception as problem:  # noqa: BLE001 - a store may raise anything
            return self._unknown(begun, problem, caller)
        now = place.now()
        if not is_true:
            why = "the store said that it had committed, and the document says otherwise"
            return self._unknown(begun, LedgerProblem(Code.TX_STORE, why), caller)
        spent = max(0, now.unix_ms - since_ms)
        if begun.state is _S.APPLYING:
            step = Step(
                begun.state, begun.applied(record.commit_id, now), Stage.APPLY, caller, spent
            )
        else:
            after = begun.rolled_back(record.commit_id, now)
            step = Step(begun.state, after, Stage.ROLLBACK, caller, spent)
        return self._taken(begun, [step], NOTHING)

    def _unknown(self, begun: Attempt, problem: BaseException, caller: Caller) -> Attempt:
        """Nobody here knows whether it took effect: it is held, and looked into at once."""
        place = self._place
        error = TxError(
            Code.TX_STORE.value if isinstance(problem, Exception) else Code.INTERRUPTED.value,
            ErrorClass.STORE if isinstance(problem, Exception) else ErrorClass.INTERRUPTED,
            safe_to_retry=False,
            action=RecoveryAction.RECONCILE,
            why=str(problem) or type(problem).__name__,
        )
        now = place.now()
        held = begun.recovering(error, now, place.terms.recovery)
        if not isinstance(problem, Exception):
            with suppress(ConsentryError, Overtaken):
                place.stored.take(Step(begun.state, held, Stage.RECOVER, caller))
            raise problem
        taken = self._taken(begun, [Step(begun.state, held, Stage.RECOVER, caller)], NOTHING)
        return self._recovery.settled(taken)

    def _rolled_back(self, attempt: Attempt, key: str, caller: Caller) -> Attempt:
        place, before = self._place, attempt
        now = place.now()
        begun = attempt.rolling_back(key, place.worker(), now)
        step = Step(before.state, begun, Stage.ROLLBACK, caller)
        try:
            writes = place.stored.journal(attempt)
        except LedgerProblem as problem:
            error = TxError(
                problem.code.value,
                ErrorClass.STORE,
                safe_to_retry=False,
                action=RecoveryAction.RESOLVE,
                why=problem.message,
            )
            lost = begun.failed_for_good(error, now)
            return self._taken(
                begun, [step, Step(begun.state, lost, Stage.ROLLBACK, caller)], NOTHING
            )
        is_as_left = differs(place.document, writes) is None
        if not is_as_left and place.required(attempt.tx_id).version != attempt.version:
            raise Overtaken  # somebody else is about to take it back, or has; they are not told of a conflict
        _require_as_left(place, attempt, is_as_left)
        begun = place.stored.take(step)
        undone = tuple(each.undone for each in writes)
        try:
            base = place.document.read(()).revision
            commit = commit_of(begun, undone, base, revision_after(base, undone, begun.commit_key))
            _require_as_left(place, begun, differs(place.document, writes) is None)
            record = place.document.commit(commit, lambda: None)
        except KeyGivenUp:
            return place.stored.required(begun.tx_id, begun.attempt_no)
        except BaseException as problem:
            after = self._unknown(begun, problem, caller)
            if isinstance(problem, Refused) and after.state is _S.APPLIED:
                raise
            return after
        return self._noted(begun, commit, record, caller, now.unix_ms)

    def _taken(self, begun: Attempt, steps: list[Step], beside: Recording) -> Attempt:
        """The steps taken; or, where somebody else settled it meanwhile, how they did."""
        stored = self._place.stored
        try:
            return stored.take(*steps, drafts=beside.drafts, change=beside.change)
        except Overtaken:
            if begun.state is _S.APPLYING and steps[0].after.state is _S.APPLYING:
                raise
            return stored.required(begun.tx_id, begun.attempt_no)


def _is_repeated(attempt: Attempt, key: str) -> bool:
    ended = (_S.APPLIED, _S.ROLLBACK_PENDING, _S.ROLLED_BACK)
    return attempt.apply_key == key and attempt.state in ended


def _require_idle(attempt: Attempt) -> None:
    if attempt.state in (_S.APPLYING, _S.ROLLBACK_PENDING):
        message = f"`{attempt.tx_id}` is being carried out by another process"
        raise Refused(Code.TX_IN_FLIGHT, message)
    if attempt.state is _S.RECOVERY_PENDING:
        why = "" if attempt.error is None else f": {attempt.error.why}"
        message = f"it is not known yet what became of `{attempt.tx_id}`{why}"
        raise Refused(Code.TX_UNSETTLED, message)


def _require_as_left(place: TxPlace, attempt: Attempt, is_as_left: bool) -> None:  # noqa: FBT001
    if not is_as_left:
        message = (
            f"what `{attempt.tx_id}` changed in `{place.document.document_id}` was changed since"
        )
        raise Refused(Code.TX_CONFLICT, message)


def _conflict(conflict: StoreConflict) -> TxError:
    return TxError(
        conflict.code.value,
        ErrorClass.CONFLICT,
        safe_to_retry=True,
        action=RecoveryAction.PREVIEW_AGAIN,
        why=conflict.message,
    )
