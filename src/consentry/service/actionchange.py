"""What an action's commands asked to change, carried on as one transaction (MODULES §limit-write-path, §stage).

The commands have ended and changed nothing yet; what they asked for is proposed together. Where the commands'
own rules ask for approval, a person decides about the preview; the rule of a command that lasts is asked here
and not before, when nobody could have seen what it does. Else what the module was granted is enough, and it is
applied at once. Either way all that they asked to change takes effect, or nothing of it; what they kept in the
module's storage or exported besides has happened by then.
"""

from collections.abc import Sequence
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import replace
from consentry.decide.capabilitycheck import PASSED, RejectCode
from consentry.decide.identity import Identity
from consentry.decide.moduleregistration import ActionRun, said
from consentry.decide.statechange import Operation
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import TxOrigin
from consentry.declare.actionapproval import approval_of
from consentry.declare.actiongraph import GraphAction
from consentry.declare.hostdescription import HostDescription
from consentry.record.transactionstates import TransactionState
from consentry.service.actionoutcome import ActionOutcome, ActionStatus, ActionWish
from consentry.service.approvals import Desk
from consentry.service.modulegate import Wanted
from consentry.service.transactions import Transactions
from consentry.store.transactions import TxChoice

_S = TransactionState
_MOST_LOOKED_AT: Final = 64
_STATUS = {
    _S.APPLIED: ActionStatus.DONE,
    _S.APPROVAL_PENDING: ActionStatus.WAITING,
    _S.APPROVED: ActionStatus.WAITING,
    _S.APPLYING: ActionStatus.WAITING,
    _S.RECOVERY_PENDING: ActionStatus.WAITING,
}


class ActionChanges:
    """Proposes and applies what actions of one host's modules asked for."""

    def __init__(self, host: HostDescription, transactions: Transactions, desk: Desk) -> None:
        self._host = host
        self._transactions = transactions
        self._desk = desk

    def asks_later(self, action: GraphAction) -> bool:
        """Whether the approval of this action is that of its preview: all its commands last."""
        commands = [self._host.command(each) for each in action.calls]
        return bool(commands) and all(
            each is not None and each.mutation_scope.is_lasting for each in commands
        )

    def carried_on(
        self,
        wish: ActionWish,
        action: GraphAction,
        wanted: Wanted,
        operations: Sequence[Operation],
        done: ActionOutcome,
    ) -> ActionOutcome:
        """The outcome of the action with its change: done, waiting, or nothing of it."""
        origin = self._origin(action, wanted)
        attempt = self._asked_already(origin, operations) or self._transactions.propose(
            origin, operations, wanted.run.transaction_id
        )
        if attempt.state is _S.APPROVAL_PENDING and (wish.waits or wish.asker is not None):
            request = self._desk.look(str(attempt.request_id))
            self._desk.wait(request, wish.asker)
            attempt = self._transactions.look(attempt.tx_id)
        return self._applied(attempt, done)

    def resumed(self, tx_id: str) -> ActionOutcome:
        """Goes on with a change that waited for its answer."""
        attempt = self._transactions.look(tx_id)
        return self._applied(attempt, ActionOutcome(ActionStatus.DONE, PASSED, run_of(attempt)))

    def _applied(self, attempt: Attempt, done: ActionOutcome) -> ActionOutcome:
        """The outcome after applying what is approved; it waits where that cannot be done now."""
        if attempt.state is not _S.APPROVED:
            return outcome_of(attempt, done)
        try:
            return outcome_of(self._transactions.apply(attempt.tx_id), done)
        except Refused as refused:
            stands = outcome_of(self._transactions.look(attempt.tx_id), done)
            if stands.status is not ActionStatus.WAITING:
                return stands
            return replace(stands, code=refused.code.value, why=refused.message)

    def _asked_already(self, origin: TxOrigin, operations: Sequence[Operation]) -> Attempt | None:
        """Of what runs by itself, the same change if it waits already, or a person said no to it.

        Else automation would pile up questions, or ask until somebody is tired of it.
        """
        module = origin.module
        if module is None or not origin.origin.is_automation:
            return None
        choice = TxChoice(
            document_id=self._transactions.place.document.document_id,
            host_id=origin.host_id,
            module_id=module.module_id,
            states=(_S.APPROVAL_PENDING, _S.REJECTED),
        )
        asked = [each.to_json() for each in operations]
        for each in self._transactions.chosen(choice, _MOST_LOOKED_AT):
            other = each.origin
            same = (other.module, other.action_id, other.session_id) == (
                module,
                origin.action_id,
                origin.session_id,
            )
            is_said = each.error is None or each.error.code == Code.APPROVAL_DENIED.value
            if same and is_said:
                drawn = self._transactions.drawn(each)
                if [one.to_json() for one in drawn.operations] == asked:
                    return self._transactions.look(each.tx_id)
        return None

    def _origin(self, action: GraphAction, wanted: Wanted) -> TxOrigin:
        run, context = wanted.run, self._desk.journal.context
        return TxOrigin(
            host_id=self._host.host_id,
            proposed_by=Identity(context.actor),
            label=said(wanted.label or action.id),
            module=run.module,
            action_id=run.action_id,
            action_run_id=run.action_run_id,
            origin=run.origin,
            commands=run.commands,
            needed=wanted.needed,
            session_id=context.session_id,
            rule=approval_of(action, self._host),
        )


def run_of(attempt: Attempt) -> ActionRun:
    """The run of an action that an attempt belongs to."""
    origin = attempt.origin
    if origin.module is None:
        raise ValueError("only a module's transaction has a run")
    return ActionRun(
        str(origin.action_run_id),
        origin.module,
        origin.action_id,
        origin.origin,
        origin.commands,
        attempt.tx_id,
    )


def outcome_of(attempt: Attempt, done: ActionOutcome) -> ActionOutcome:
    """How an action came out whose change stands so."""
    outcome = replace(done, transaction_id=attempt.tx_id, transaction_state=attempt.state.value)
    status = _STATUS.get(attempt.state, ActionStatus.REJECTED)
    if status is ActionStatus.DONE:
        return outcome
    error = attempt.error
    if status is ActionStatus.WAITING:
        is_asked = attempt.state is _S.APPROVAL_PENDING
        return replace(
            outcome,
            status=status,
            request_id=attempt.request_id if is_asked else None,
            why=None if error is None else error.why,
        )
    if attempt.violation is not None:
        is_undone = attempt.state is _S.ROLLED_BACK
        return replace(
            outcome,
            status=status,
            code=RejectCode.POLICY_VIOLATION.value,
            capability_id=attempt.violation.capability_id,
            why=attempt.violation.why,
            rollback="rolled_back" if is_undone else "rollback_failed",
        )
    if attempt.state is _S.ROLLED_BACK:
        return replace(outcome, status=status, why="it was rolled back meanwhile")
    return replace(
        outcome,
        status=status,
        code=None if error is None else error.code,
        capability_id=None if error is None else error.capability_id,
        why=None if error is None else error.why,
    )
