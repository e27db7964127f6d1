"""The six capability events of MODULES, each with its thirteen fields and no other.

`eventId` and `timestampUtc` stand in the payload as well as in the envelope, so the event's id is drawn
here. Where no person decided the approver is the system; only a question that nobody has answered yet has
none at all (CONTRACTS §12-events-1).
"""

from consentry.base.clock import Instant
from consentry.base.values import dataclass
from consentry.decide.capabilitycheck import ModuleIdentity
from consentry.decide.identity import SYSTEM, Role
from consentry.record.envelope import EVENT_PREFIX, Draft
from consentry.record.events import EventType
from consentry.store.journal import About, Journal

_DECISIONS = {
    EventType.ESCALATION_REQUESTED: "requested",
    EventType.ESCALATION_APPROVED: "approved",
    EventType.ESCALATION_DENIED: "denied",
    EventType.CHECK_REJECTED: "rejected",
    EventType.ROLLBACK_EXECUTED: "rejected",
    EventType.ROLLBACK_FAILED: "rejected",
}


@dataclass(frozen=True, slots=True)
class CapabilityFacts:
    """What one capability event is about."""

    module: ModuleIdentity
    capability_id: str
    reason: str
    grant_version: str
    action_id: str | None = None
    transaction_id: str | None = None


@dataclass(frozen=True, slots=True)
class Approver:
    """Who decided, and for how long the grant is."""

    identity: str | None = SYSTEM
    role: str | None = Role.SYSTEM.value
    grant_scope: str = "none"


NOBODY_YET = Approver(None, None)
BY_SYSTEM = Approver()


def capability_draft(
    journal: Journal,
    event: EventType,
    facts: CapabilityFacts,
    approver: Approver,
    about: About,
    at: Instant,
) -> Draft:
    """One event that is not recorded yet; a deadline that passed is decision `timeout`."""
    decision = _DECISIONS[event]
    if event is EventType.ESCALATION_DENIED and facts.reason == "deadline":
        decision = "timeout"
    drawn = journal.ids.new(EVENT_PREFIX)
    return journal.draft(
        event,
        about,
        {
            "eventId": drawn,
            "timestampUtc": str(at),
            "moduleId": facts.module.module_id,
            "moduleVersion": facts.module.module_version,
            "capabilityId": facts.capability_id,
            "actionId": facts.action_id,
            "transactionId": facts.transaction_id,
            "decision": decision,
            "decisionReasonCode": facts.reason,
            "approverIdentity": approver.identity,
            "approverRole": approver.role,
            "grantScope": approver.grant_scope,
            "grantVersion": facts.grant_version,
        },
        at,
        event_id=drawn,
    )
