"""How a question about a module's capabilities is put and ends, besides its answer (MODULES §flow).

Putting it records `capability.escalation.requested` for every capability. Whoever ends it (a person
anywhere, the deadline, a changed policy or module) writes with its ending, in one transaction,
`capability.escalation.approved` or `.denied` for each and, for a yes, the grants themselves. There is no
later step that a crash could lose, and no yes without a grant.

A yes counts for what was shown: the module must still be registered with that version and digest, under
the same major version of the catalog, and for a session that goes on; otherwise the question has lapsed,
and is superseded instead.
"""

from typing import Final

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.decide.actionask import ActionAsk
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilityask import CapabilityAsk, reason_of
from consentry.decide.grant import GrantScope, GrantTerms
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Outcome
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.store.capabilityevents import (
    BY_SYSTEM,
    NOBODY_YET,
    Approver,
    CapabilityFacts,
    capability_draft,
)
from consentry.store.database import Transaction
from consentry.store.grants import StoredGrants
from consentry.store.journal import About, Journal
from consentry.store.ledger import Change
from consentry.store.rows import Lapsed, exists
from consentry.surface.catalog import capability_catalog

_GONE: Final = "the module is not registered any more as it was when it asked"
_OTHER_CATALOG: Final = "the catalog of capabilities has another major version"
_OVER: Final = "the session that asked is over"
_SESSION_OPEN: Final = "SELECT 1 FROM session WHERE session_id = ? AND ended_at IS NULL"
_STILL: Final = (
    "SELECT 1 FROM module WHERE host_id = ? AND module_id = ? "
    "AND module_version = ? AND package_digest = ?"
)


def asking_drafts(
    journal: Journal, request: ApprovalRequest, about: About, now: Instant
) -> tuple[Draft, ...]:
    """What is recorded with the question: each capability that is missing, and why it is."""
    ask = CapabilityAsk.of(request)
    version = capability_catalog().version
    return tuple(
        capability_draft(
            journal,
            EventType.ESCALATION_REQUESTED,
            CapabilityFacts(
                ask.module,
                each.capability_id,
                each.lack.value,
                version,
                ask.action_id,
                ask.transaction_id,
            ),
            NOBODY_YET,
            about,
            now,
        )
        for each in ask.wanted
    )


def consequence_of(
    journal: Journal, settled: ApprovalRequest, about: About, now: Instant
) -> tuple[tuple[Draft, ...], Change | None]:
    """What the ending brings with it; raises `Lapsed` where a yes opens nothing.

    Of a request that nobody here can have made, a yes is refused, and a no has no capability events:
    there is nothing it is about.
    """
    answer = settled.answer
    is_yes = settled.status == Outcome.APPROVED
    try:
        ask = CapabilityAsk.of(settled)
    except (BadInput, Refused) as wrong:
        if is_yes:
            message = f"`{settled.request_id}` cannot be approved: {wrong.message}"
            raise Refused(Code.ANSWER_REFUSED, message) from wrong
        return (), None
    if not is_yes or answer is None:
        return _events(journal, ask, settled, EventType.ESCALATION_DENIED, about, now), None
    ask.require_takes(answer)
    if capability_catalog().voids_grants_of(ask.catalog_version):
        raise Lapsed(_OTHER_CATALOG)
    giving = StoredGrants(journal.ledger, journal.ids, journal.clock, journal.context).giving(
        _terms(ask, answer, settled.request_id), now
    )

    def change(transaction: Transaction) -> None:
        try:
            giving.change(transaction)
        except Refused:
            raise Lapsed(_OVER) from None
        module = ask.module
        content = (module.module_version, module.package_digest)
        if not exists(transaction, _STILL, (module.host_id, module.module_id, *content)):
            raise Lapsed(_GONE)

    events = _events(journal, ask, settled, EventType.ESCALATION_APPROVED, about, now)
    return (*events, *giving.drafts), change


def still_open(settled: ApprovalRequest) -> Change:
    """Raises `Lapsed` in the transaction where a yes to a command could carry out nothing any more."""
    ask = ActionAsk.of(settled)

    def change(transaction: Transaction) -> None:
        module = ask.run.module
        content = (module.module_version, module.package_digest)
        if not exists(transaction, _STILL, (module.host_id, module.module_id, *content)):
            raise Lapsed(_GONE)
        if not exists(transaction, _SESSION_OPEN, (ask.session_id,)):
            raise Lapsed(_OVER)

    return change


def _events(
    journal: Journal,
    ask: CapabilityAsk,
    settled: ApprovalRequest,
    event: EventType,
    about: About,
    now: Instant,
) -> tuple[Draft, ...]:
    answer = settled.answer
    approver = BY_SYSTEM
    if answer is not None:
        scope = "none" if answer.lasts is None else _scope(answer).value
        approver = Approver(answer.by, answer.role.value, scope)
    version, reason = capability_catalog().version, reason_of(answer)
    return tuple(
        capability_draft(
            journal,
            event,
            CapabilityFacts(
                ask.module,
                each.capability_id,
                reason,
                version,
                ask.action_id,
                ask.transaction_id,
            ),
            approver,
            about,
            now,
        )
        for each in ask.wanted
    )


def _scope(answer: Answer) -> GrantScope:
    is_for_session = answer.lasts is Lasts.SESSION
    return GrantScope.SESSION if is_for_session else GrantScope.PERSISTENT


def _terms(ask: CapabilityAsk, answer: Answer, request_id: str) -> list[GrantTerms]:
    module, scope = ask.module, _scope(answer)
    return [
        GrantTerms(
            host_id=module.host_id,
            module_id=module.module_id,
            module_version=module.module_version,
            package_digest=module.package_digest,
            capability_id=each.capability_id,
            scope=scope,
            given_by=answer.by,
            given_role=answer.role,
            session_id=ask.session_id if scope is GrantScope.SESSION else None,
            request_id=request_id,
        )
        for each in ask.wanted
    ]
