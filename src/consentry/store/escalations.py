"""How a request for a larger permission set ends, besides its answer (ESCALATION AC4, AC7).

Whoever settles such a request (the terminal that asked, another process, the deadline, a changed
policy) writes with its ending, in one transaction, the decision for the log and, where it is a yes
about a saved capability, the capability in its new set. There is no later step that a crash could
lose, and no ending without a row.

A yes counts for what was shown. The capability must still be of that code and version and run in the
set that was asked from; otherwise the request has lapsed, and is superseded instead.
"""

from typing import Final

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilities import Capability, determine_permission_set
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.fields import problem
from consentry.decide.lasting import Lasts
from consentry.decide.permissionaudit import MANUAL, EscalationDecision
from consentry.decide.question import Outcome
from consentry.record.envelope import Draft
from consentry.store.database import Transaction
from consentry.store.journal import About, Journal
from consentry.store.ledger import Change
from consentry.store.patterns import (
    SURE,
    hold_as_it_was,
    moment_after,
    saved_capabilities,
    saved_draft,
)
from consentry.store.permissionaudit import decision_draft
from consentry.store.rows import Lapsed, Overtaken

_GONE: Final = "the capability is not saved here"
_CHANGED: Final = "the capability changed since it was asked"


def consequence_of(
    journal: Journal, settled: ApprovalRequest, about: About, now: Instant
) -> tuple[tuple[Draft, ...], Change | None]:
    """What an escalation's ending brings with it; raises `Lapsed` where a yes opens nothing.

    The change raises it as well, where the capability changes in the last moment. Of a request that
    nobody here can have made, a yes is refused, and a no has no row: there is nothing it is about.
    """
    is_yes = settled.status == Outcome.APPROVED
    try:
        ask = EscalationAsk.of(settled)
        decision = _decision(ask, settled)
    except (BadInput, Refused) as wrong:
        if is_yes:
            message = f"`{settled.request_id}` cannot be approved: {wrong.message}"
            raise Refused(Code.ANSWER_REFUSED, message) from wrong
        return (), None
    if is_yes:
        _require_lasts_as_it_does(ask, settled)
    names = {"requestId": settled.request_id, "executionId": ask.execution_id}
    decided = decision_draft(journal, decision, about, now, names)
    if not is_yes or ask.ephemeral:
        return (decided,), None
    capability = _as_it_was_asked(journal, ask)
    larger = capability.with_set(
        ask.request.requested_set,
        SURE,
        capability.permission_source,
        moment_after(capability, now),
    )

    def change(transaction: Transaction) -> None:
        try:
            hold_as_it_was(transaction, capability)
        except Overtaken:
            raise Lapsed(_CHANGED) from None

    return (decided, saved_draft(journal, larger, about, now)), change


def _require_lasts_as_it_does(ask: EscalationAsk, settled: ApprovalRequest) -> None:
    """Raises where somebody meant another span: a stored set holds for good, a task's for its run."""
    lasts = None if settled.answer is None else settled.answer.lasts
    means = Lasts.ONCE if ask.ephemeral else Lasts.PERMANENT
    if lasts is not None and lasts is not means:
        message = f"a yes to `{settled.request_id}` is `{means}`, and cannot be for `{lasts}`"
        raise Refused(Code.ANSWER_REFUSED, message)


def _decision(ask: EscalationAsk, settled: ApprovalRequest) -> EscalationDecision:
    request, answer = ask.request, settled.answer
    decision = EscalationDecision(
        capability_id=request.capability_id,
        from_set=request.current_set,
        to_set=request.requested_set,
        approved=settled.status == Outcome.APPROVED,
        approved_by=None if answer is None else answer.by,
        reason=request.reason,
        detected_operation=request.detected_operation,
        ephemeral=ask.ephemeral,
    )
    if decision.is_by_hand:
        raise problem("detectedOperation", f"`{MANUAL}` is what a person does with a command")
    return decision


def _as_it_was_asked(journal: Journal, ask: EscalationAsk) -> Capability:
    found = saved_capabilities(journal.database, "id = ?", (ask.request.capability_id,))
    if not found:
        raise Lapsed(_GONE)
    capability = found[0]
    is_same_code = (capability.code_hash, capability.version) == (ask.code_hash, ask.version)
    if not is_same_code or determine_permission_set(capability) is not ask.request.current_set:
        raise Lapsed(_CHANGED)
    return capability
