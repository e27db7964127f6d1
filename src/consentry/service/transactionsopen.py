"""Opens transactions for a program that is not their host: a command, the page of an inbox.

What can be carried out there is what lies in the built-in store. A document that a host keeps itself is
refused before anything is looked into: its commits stand in a log that only the host can read, and settling
an attempt against an empty one would call a change undone that is there.

The authority of a module is checked as in its host: against the host's description as it is registered, and
in the session that the change was asked for in, so that a grant for that session counts while it goes on and
not longer. Who carries it out is whoever types the command; that stands in the events of the steps.
"""

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.values import replace
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import DocumentKeeper, TxOrigin
from consentry.record.transactionstates import TransactionState
from consentry.service.approvals import Desk
from consentry.service.modulegate import ModuleGate
from consentry.service.transactionplace import TxPlace, Unwatched, Watch
from consentry.service.transactions import Transactions
from consentry.service.transactionwatch import ModuleWatch
from consentry.store.documents import StoredDocument
from consentry.store.journal import Journal
from consentry.store.modulechecks import ModuleChecks
from consentry.store.modules import StoredModules
from consentry.store.transactions import StoredTransactions

_S = TransactionState
_UNSETTLED = (_S.APPLYING, _S.ROLLBACK_PENDING, _S.RECOVERY_PENDING)


def is_within_reach(attempt: Attempt) -> bool:
    """Whether others than the host can carry it out."""
    return attempt.keeper is DocumentKeeper.BUILT_IN


def require_within_reach(attempt: Attempt) -> None:
    """Raises where only the host can carry it out."""
    if not is_within_reach(attempt):
        host = attempt.origin.host_id
        message = f"`{attempt.document_id}` lies in a store of `{host}` itself, not in the ledger"
        raise Refused(Code.TX_ELSEWHERE, message)


def transactions_for(attempt: Attempt, desk: Desk) -> Transactions:
    """The transactions of its document, under the rules that it was proposed by."""
    require_within_reach(attempt)
    journal = desk.journal
    document = StoredDocument(journal.database, journal.clock, journal.ids, attempt.document_id)
    return Transactions(TxPlace(journal, document, _watch(attempt.origin, desk)), desk)


def looked_at(attempt: Attempt, desk: Desk) -> Attempt:
    """The attempt after settling what can be settled from here; as it is where that is nothing."""
    stored = StoredTransactions(desk.journal)
    if attempt.state is _S.APPROVAL_PENDING and attempt.request_id is not None:
        desk.look(attempt.request_id)
    elif attempt.state in _UNSETTLED and is_within_reach(attempt):
        return transactions_for(attempt, desk).look(attempt.tx_id)
    return stored.required(attempt.tx_id, attempt.attempt_no)


def can_change_by_looking(attempt: Attempt) -> bool:
    """Whether looking could settle something: a deadline that passed, a process that is gone."""
    if attempt.state is _S.APPROVAL_PENDING:
        return attempt.request_id is not None
    return attempt.state in _UNSETTLED and is_within_reach(attempt)


def _watch(origin: TxOrigin, desk: Desk) -> Watch:
    if origin.module is None:
        return Unwatched()
    journal = _in_session(desk.journal, origin.session_id)
    host = StoredModules(journal).host(origin.host_id)
    if host is None:
        message = f"no host `{origin.host_id}` is known here, so nobody can say what it allows"
        raise UsageProblem(Code.HOST_UNKNOWN, message)
    checks = ModuleChecks(journal, origin.host_id)
    gate = ModuleGate(checks, Desk(journal, desk.settings))
    return ModuleWatch(host, gate, checks, journal)


def _in_session(journal: Journal, session_id: str | None) -> Journal:
    """The same ledger, in the session that asked; what only another session was granted is not there."""
    return replace(journal, context=replace(journal.context, session_id=session_id))
