"""Transactions of one document: proposed, previewed, decided, applied, rolled back (CONTRACTS §3).

    attempt = transactions.propose(origin, operations)      APPROVAL_PENDING, or what stood against it
    transactions.apply(attempt.tx_id)                       APPLIED
    transactions.roll_back(attempt.tx_id)                   ROLLED_BACK

Whether a person has to look is decided from what proposes the change, never by the caller. From `RECEIVED` to
the question everything is one transaction of the ledger: after a crash it is all there, or nothing is. A
transaction that failed before it was applied can be previewed again, from what was asked for and the document
as it is by then; that is the next attempt, and no approval carries over.
"""

from collections.abc import Sequence
from threading import Lock
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused, UsageProblem
from consentry.decide.identity import SYSTEM, Identity, Role
from consentry.decide.question import Answer, Channel, Outcome
from consentry.decide.statechange import (
    Operation,
    WorkedOut,
    entities_of,
    worked_out,
)
from consentry.decide.transactionask import TransactionAsk
from consentry.decide.txattempt import PREFIX, Attempt, received
from consentry.decide.txparts import (
    Approval,
    Decision,
    ErrorClass,
    RecoveryAction,
    TxError,
    TxOrigin,
)
from consentry.decide.txpreview import PreviewTerms, preview_of
from consentry.decide.txstep import Caller, Stage, Step
from consentry.enforce.broker import CapabilityRejected
from consentry.record.transactionstates import TransactionState
from consentry.service.approvals import Desk, Waits
from consentry.service.transactionapply import Applying
from consentry.service.transactionplace import CALL_PREFIX, NOTHING, TxPlace
from consentry.service.transactionrecovery import Recovery
from consentry.service.transactionrefusal import not_worked_out, steps_of_refusal
from consentry.store.asking import Asking
from consentry.store.documents import keeper_of
from consentry.store.journal import Journal
from consentry.store.rows import Overtaken
from consentry.store.transactioncontents import Drawn
from consentry.store.transactionholds import Block
from consentry.store.transactions import StoredTransactions, TxChoice

_S = TransactionState
_LEAST_PREFIX: Final = 8
_MOST_TRIES: Final = 16


class Transactions:
    """The transactions of one document."""

    def __init__(self, place: TxPlace, desk: Desk) -> None:
        self.place = place
        self._desk = desk
        self._applying = Applying(place)
        self._recovery = Recovery(place)
        self._one_at_a_time = Lock()

    def propose(
        self, origin: TxOrigin, operations: Sequence[Operation], tx_id: str | None = None
    ) -> Attempt:
        """A new transaction, previewed and put to whoever decides; or failed, with what stood against it.

        `tx_id` is the id that was drawn for it where its action is on record under that already.
        """
        place, now = self.place, self.place.now()
        tx_id = tx_id or place.journal.ids.new(PREFIX)
        document = place.document
        keeper = keeper_of(document, place.journal.database)
        first = received(tx_id, document.document_id, origin, place.terms.ttl_seconds, now, keeper)
        caller = place.caller()
        begun = first.previewing(now)
        step = Step(first.state, begun, Stage.RECEIVE, caller)
        try:
            return self._previewed(begun, [step], operations, caller, None)
        except Overtaken:
            raise Refused(Code.TX_STATE, f"`{tx_id}` was proposed already") from None

    def change(self, origin: TxOrigin, operations: Sequence[Operation]) -> Attempt:
        """A change that nobody has to be asked about, applied; again where others were first."""
        # Threads of one program wait for each other; only other programs can be first.
        with self._one_at_a_time:
            attempt = self.propose(origin, operations)
            for _ in range(_MOST_TRIES):
                if attempt.state is _S.APPROVED:
                    attempt = self.apply(attempt.tx_id)
                error = attempt.error
                is_late = error is not None and error.code == Code.TX_CONFLICT.value
                if attempt.state is not _S.FAILED_PRE_APPLY or not is_late:
                    return attempt
                attempt = self.preview_again(attempt.tx_id)
            return self.apply(attempt.tx_id)

    def preview_again(self, tx_id: str) -> Attempt:
        """The next attempt of one that failed before it was applied."""
        place = self.place
        failed = place.required(tx_id)
        failed.require_state(_S.FAILED_PRE_APPLY)
        operations = place.stored.drawn(failed).operations
        caller = place.caller()
        begun = failed.previewing(place.now())
        step = Step(failed.state, begun, Stage.PREVIEW, caller)
        try:
            return self._previewed(begun, [step], operations, caller, failed)
        except Overtaken:
            message = f"`{tx_id}` was previewed again, or ended, by somebody else meanwhile"
            raise Refused(Code.TX_STATE, message) from None

    def apply(self, tx_id: str, key: str | None = None) -> Attempt:
        """Applies an approved transaction, once for its key."""
        return self._applying.apply(tx_id, key)

    def roll_back(self, tx_id: str, key: str | None = None) -> Attempt:
        """Takes an applied transaction back, once for its key."""
        return self._applying.roll_back(tx_id, key)

    def reject(
        self, tx_id: str, by: Identity, role: Role | str, reason: str | None = None
    ) -> Attempt:
        """Ends one that waits for its answer, or that failed, without an effect."""
        place, role = self.place, Role(role)
        attempt = place.required(tx_id)
        if attempt.state is _S.APPROVAL_PENDING and attempt.request_id is not None:
            answer = Answer(Outcome.DENIED, by, role, Channel.LIBRARY, reason)
            self._desk.answer(attempt.request_id, answer)
            return place.required(tx_id)
        return given_up(place.journal, attempt, by, role, reason)

    def look(self, tx_id: str) -> Attempt:
        """The latest attempt as it stands, after settling what can be settled."""
        attempt = self.place.required(tx_id)
        if attempt.state is _S.APPROVAL_PENDING and attempt.request_id is not None:
            self._desk.look(attempt.request_id)
            return self.place.required(tx_id)
        return self._recovery.settled(attempt)

    def settle_all(self) -> list[Attempt]:
        """Looks into everything of this document that nobody works on any more."""
        return self._recovery.settle_all()

    def resolve(self, tx_id: str, by: Identity, role: Role | str, reason: str) -> Attempt:
        """Lets the document take changes again after one that could not be settled; that one stays over.

        Its store has to say what became of its commit first, or a late writer could still make it.
        """
        attempt, role = self.place.required(tx_id), Role(role)
        if role not in (Role.OWNER, Role.OPERATOR):
            raise Refused(Code.TX_STATE, f"only somebody who is `operator` resolves, not `{role}`")
        mine = (attempt.tx_id, attempt.attempt_no)
        if mine not in [(each.tx_id, each.attempt_no) for each in self.blocks()]:
            raise Refused(Code.TX_STATE, f"`{tx_id}` blocks nothing")
        self._recovery.give_up(attempt)
        self.place.stored.resolve(attempt, by, role, reason)
        return attempt

    def listed(self, states: Sequence[TransactionState] = (), most: int = 100) -> Sequence[Attempt]:
        """Those of this document, the newest first."""
        choice = TxChoice(document_id=self.place.document.document_id, states=states)
        return self.place.stored.listed(choice, most)

    def chosen(self, choice: TxChoice, most: int) -> Sequence[Attempt]:
        """Those that fit, of whichever document, the newest first."""
        return self.place.stored.listed(choice, most)

    def drawn(self, attempt: Attempt) -> Drawn:
        """What an attempt is about: its operations, its preview, its journal."""
        return self.place.stored.drawn(attempt)

    def blocks(self) -> Sequence[Block]:
        """What blocks this document."""
        return self.place.stored.blocks(self.place.document.document_id)

    def found(self, named: str) -> str:
        """The id that is meant by an id or the beginning of one."""
        return found_transaction(self.place.stored, named)

    def _previewed(
        self,
        begun: Attempt,
        steps: list[Step],
        operations: Sequence[Operation],
        caller: Caller,
        after: Attempt | None,
    ) -> Attempt:
        place = self.place
        try:
            # Before the document is looked at: whoever may not change it is told nothing of it.
            place.watch.check(begun.origin, operations)
            found = place.document.read(entities_of(operations))
            done = worked_out(found.entities, operations)
            _require_change(done)
        except (BadInput, CapabilityRejected) as problem:
            return self._failed(begun, steps, operations, caller, problem, after)
        now = place.now()
        terms = PreviewTerms(
            begun.tx_id,
            begun.attempt_no,
            begun.origin.track.value,
            found.revision,
            now,
            place.terms.redactions,
        )
        preview = preview_of(terms, done)
        ready = begun.ready(
            Digest(str(preview["previewHash"])),
            found.revision,
            str(preview["candidateRevision"]),
            now,
        )
        steps.append(Step(begun.state, ready, Stage.PREVIEW, caller))
        drawn = Drawn(operations, preview, done.writes)
        asking = self._asking(ready, drawn)
        asked = ready.asked(None if asking is None else asking.request.request_id, now)
        steps.append(Step(ready.state, asked, Stage.APPROVE, caller))
        if asking is None:
            agreed = asked.approved(_own_approval(asked), now)
            steps.append(Step(asked.state, agreed, Stage.APPROVE, caller))
        return place.stored.begin(steps, drawn, asking, after)

    def _asking(self, ready: Attempt, drawn: Drawn) -> Asking | None:
        if not ready.origin.approval_required or drawn.preview is None:
            return None
        question = TransactionAsk.about(ready, drawn.preview).question()
        return self._desk.requests.asking(question, Waits.PARKED.within(self._desk.settings))

    def _failed(
        self,
        begun: Attempt,
        steps: list[Step],
        operations: Sequence[Operation],
        caller: Caller,
        problem: "BadInput | CapabilityRejected",
        after: Attempt | None,
    ) -> Attempt:
        """No preview: what was asked for is kept, and why it came to nothing."""
        place, beside = self.place, NOTHING
        if isinstance(problem, CapabilityRejected):
            steps += steps_of_refusal(place, begun, problem, Stage.PREVIEW, caller)
            beside = place.watch.refused(begun, problem, after_writes=False)
        else:
            failed = begun.failed(not_worked_out(problem), place.now())
            steps.append(Step(begun.state, failed, Stage.PREVIEW, caller))
        return place.stored.begin(steps, Drawn(operations), None, after, beside)


def found_transaction(stored: StoredTransactions, named: str) -> str:
    """The id that is meant by an id or the beginning of one, whichever document it is about."""
    if stored.find(named) is not None:
        return named
    bare = named.removeprefix(f"{PREFIX}-")
    alike = stored.beginning(f"{PREFIX}-{bare}") if len(bare) >= _LEAST_PREFIX else []
    if len(alike) > 1:
        message = f"{len(alike)} transactions have an id like `{named}`"
        raise UsageProblem(Code.ID_AMBIGUOUS, message)
    if not alike:
        raise UsageProblem(Code.TX_UNKNOWN, f"no transaction has the id `{named}`")
    return alike[0]


def given_up(
    journal: Journal, failed: Attempt, by: Identity, role: Role, reason: str | None
) -> Attempt:
    """Ends one that failed before it was applied; whoever keeps its document need not be there."""
    failed.require_state(_S.FAILED_PRE_APPLY)
    if role is Role.VIEWER:
        message = f"`{by}` may look at `{failed.tx_id}` and not end it"
        raise Refused(Code.ANSWER_REFUSED, message)
    error = TxError(
        Code.APPROVAL_DENIED.value,
        ErrorClass.REJECTED,
        safe_to_retry=False,
        action=RecoveryAction.NONE,
        why=reason or "given up",
    )
    stored = StoredTransactions(journal)
    caller = Caller(by, role, journal.ids.new(CALL_PREFIX))
    after = failed.rejected(error, journal.clock.now())
    try:
        return stored.take(Step(failed.state, after, Stage.APPROVE, caller))
    except Overtaken:
        return stored.required(failed.tx_id)


def _own_approval(attempt: Attempt) -> Approval:
    """Of what needs no question: the person's own change, or what the module was granted."""
    origin = attempt.origin
    is_person = origin.module is None
    return Approval(
        attempt.tx_id,
        attempt.attempt_no,
        Digest(str(attempt.preview_hash)),
        str(attempt.base_revision),
        origin.proposed_by if is_person else SYSTEM,
        Role.OWNER if is_person else Role.SYSTEM,
        Decision.APPROVED,
        attempt.changed_at,
        attempt.ttl_seconds,
    )


def _require_change(done: WorkedOut) -> None:
    if not done.writes:
        raise BadInput(Code.TX_OPERATION, "these operations leave everything as it is")
