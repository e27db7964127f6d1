"""The documents' own events: which words they take, and what must agree inside one payload."""

import re
from typing import Any

import pytest

from consentry.record.eventfields import PERMISSION_SETS
from consentry.record.events import EventGroup, EventType
from consentry.record.payload import check_payload
from consentry.record.transactionstates import KEYED, STEPS, TransactionState
from consentry.surface.permission_sets import PermissionSet
from tests.record.payloads import DIGEST, sample_id, sample_payload
from tests.record.refusals import field_named, refusal

MODULE_EVENTS = [event for event in EventType if event.group is EventGroup.MODULES]

DECISIONS = {
    EventType.ESCALATION_REQUESTED: {"requested"},
    EventType.ESCALATION_APPROVED: {"approved"},
    EventType.ESCALATION_DENIED: {"denied", "timeout"},
    EventType.CHECK_REJECTED: {"rejected"},
    EventType.ROLLBACK_EXECUTED: {"rejected"},
    EventType.ROLLBACK_FAILED: {"rejected"},
}


THIRTEEN = (
    "eventId", "timestampUtc", "moduleId", "moduleVersion", "capabilityId", "actionId",
    "transactionId", "decision", "decisionReasonCode", "approverIdentity", "approverRole",
    "grantScope", "grantVersion",
)  # fmt: skip


def words_of(event_type: EventType, name: str) -> str:
    """What a field takes, in the words of its refusal."""
    problem = refusal(event_type, sample_payload(event_type, **{name: "no such word"}))
    said = re.search("must have (.+) here$", problem.message)
    assert said is not None
    return said[1]


def refused_at(event_type: EventType, **changes: Any) -> str:
    """The field that a changed sample is refused for."""
    return field_named(refusal(event_type, sample_payload(event_type, **changes)))


@pytest.mark.parametrize("event_type", MODULE_EVENTS)
@pytest.mark.parametrize("decision", ["requested", "approved", "denied", "timeout", "rejected"])
def test_each_capability_event_has_its_own_decisions(event_type: EventType, decision: str) -> None:
    """MODULES §audit-5: a decision that belongs to another event is refused."""
    if decision in DECISIONS[event_type]:
        check_payload(event_type, sample_payload(event_type, decision=decision))
    else:
        assert refused_at(event_type, decision=decision) == "payload.decision"


@pytest.mark.parametrize("event_type", MODULE_EVENTS)
@pytest.mark.parametrize(
    "other", ["", "cancelled", "approve", "deny", "expired", "Denied", "requested ", 1, True, None]
)
def test_there_is_no_sixth_decision(event_type: EventType, other: Any) -> None:
    """MODULES §audit-2: five words, spelled so, and no other in any of the events."""
    assert refused_at(event_type, decision=other) == "payload.decision"
    taken = {
        "capability.escalation.requested": "`requested`",
        "capability.escalation.approved": "`approved`",
        "capability.escalation.denied": "one of `denied`, `timeout`",
        "capability.check.rejected": "`rejected`",
        "capability.rollback.executed": "`rejected`",
        "capability.rollback.failed": "`rejected`",
    }
    assert words_of(event_type, "decision") == taken[event_type]


@pytest.mark.parametrize("event_type", MODULE_EVENTS)
def test_a_grant_has_one_of_three_scopes(event_type: EventType) -> None:
    """MODULES §audit-3: each is taken; another word, spelling or kind of value is not."""
    for scope in ("session", "persistent", "none"):
        check_payload(event_type, sample_payload(event_type, grantScope=scope))
    for other in ("", "forever", "once", "permanent", "Session", "persistent ", 1, False, None):
        assert refused_at(event_type, grantScope=other) == "payload.grantScope"
    assert words_of(event_type, "grantScope") == "one of `session`, `persistent`, `none`"


@pytest.mark.parametrize("event_type", MODULE_EVENTS)
def test_a_reason_is_one_of_the_documents_codes(event_type: EventType) -> None:
    """CONTRACTS §12-reason: the seven reject codes of MODULES and six words more, no others."""
    codes = (
        "capability-unknown-id",
        "capability-not-requested",
        "capability-not-granted",
        "capability-grant-stale",
        "capability-escalation-denied",
        "capability-escalation-timeout",
        "capability-policy-violation",
        "user-approved-session",
        "user-approved-persistent",
        "user-denied",
        "user-cancelled",
        "deadline",
        "policy",
    )
    for code in codes:
        check_payload(event_type, sample_payload(event_type, decisionReasonCode=code))
    for other in ("", "because", "user-approved", "Policy", "capability_not_granted", 1, None):
        assert refused_at(event_type, decisionReasonCode=other) == "payload.decisionReasonCode"
    listed = ", ".join(f"`{code}`" for code in codes)
    assert words_of(event_type, "decisionReasonCode") == f"one of {listed}"


@pytest.mark.parametrize("event_type", MODULE_EVENTS)
@pytest.mark.parametrize("name", THIRTEEN)
def test_a_capability_event_without_one_of_thirteen_fields_is_refused(
    event_type: EventType, name: str
) -> None:
    """MODULES §audit-1: each by its name, and these are all it must have."""
    payload = sample_payload(event_type)
    del payload[name]
    assert field_named(refusal(event_type, payload)) == f"payload.{name}"
    assert [field.name for field in event_type.shape.fields] == list(THIRTEEN)


@pytest.mark.parametrize("event_type", MODULE_EVENTS)
def test_null_in_a_capability_event_is_where_the_contract_has_it(event_type: EventType) -> None:
    """CONTRACTS §12-events-1: action and transaction; the approver only of a request."""
    may_be_null = {field.name for field in event_type.shape.fields if field.nullable}
    is_open = event_type is EventType.ESCALATION_REQUESTED
    approver = {"approverIdentity", "approverRole"} if is_open else set()
    assert may_be_null == {"actionId", "transactionId"} | approver


def test_a_request_names_its_approver_wholly_or_not_at_all() -> None:
    """An identity without a role would be half an answer."""
    requested = EventType.ESCALATION_REQUESTED
    whole = {"approverIdentity": "system", "approverRole": "system"}
    check_payload(requested, sample_payload(requested, **whole))
    assert refused_at(requested, approverIdentity="system") == "payload.approverRole"


@pytest.mark.parametrize(
    ("name", "value"),
    [("grantScope", "forever"), ("approverRole", "admin"), ("decisionReasonCode", "just because")],
)
def test_a_word_that_no_document_knows_is_refused(name: str, value: str) -> None:
    """MODULES §audit-3, CONTRACTS §9 and §12."""
    assert refused_at(EventType.ESCALATION_APPROVED, **{name: value}) == f"payload.{name}"


def test_a_token_is_minted_against_one_consent_or_one_grant() -> None:
    """TRUST: neither is no ground, and both would leave open which one held."""
    minted = EventType.CAPABILITY_MINTED
    consent, grant = sample_id("consent"), sample_id("grant")
    check_payload(minted, sample_payload(minted, consentId=consent, grantId=None))
    check_payload(minted, sample_payload(minted, consentId=None, grantId=grant))
    assert refused_at(minted, consentId=None, grantId=None) == "payload.consentId"
    assert refused_at(minted, consentId=consent, grantId=grant) == "payload.consentId"
    assert refused_at(minted, capability="GitPushCapability") == "payload.capability"


@pytest.mark.parametrize("budget", [{"git_push": 1}, {"fs_write": -1}, {"fs_write": True}])
def test_a_budget_limits_known_kinds_by_whole_numbers(budget: dict[str, object]) -> None:
    """TRUST §token-6; there is no kind of use that is a push."""
    assert refused_at(EventType.CAPABILITY_MINTED, budget=budget) == "payload.budget"
    check_payload(
        EventType.CAPABILITY_MINTED, sample_payload(EventType.CAPABILITY_MINTED, budget=None)
    )


def test_a_plugin_is_rejected_for_its_digest_or_for_having_none() -> None:
    """TRUST §lock-3; a plugin that the lock does not name has nothing to be compared with."""
    rejected = EventType.PLUGIN_REJECTED
    check_payload(rejected, sample_payload(rejected, reason="not_in_lock", expected=None))
    assert refused_at(rejected, found=DIGEST.removeprefix("sha256:")) == "payload.found"


def test_a_race_in_the_root_folder_can_be_recorded() -> None:
    """Its last component has no name."""
    race = EventType.FILESYSTEM_RACE_DETECTED
    check_payload(race, sample_payload(race, jail="/", relative=".", component=""))


def test_the_permission_sets_are_those_of_the_surface() -> None:
    """The names are written down twice, for the sake of a quick start; they cannot drift."""
    assert tuple(PermissionSet) == PERMISSION_SETS


def test_an_approved_escalation_says_by_whom() -> None:
    """ESCALATION §yes-trail; a refusal may be nobody's."""
    decided = EventType.PERMISSION_ESCALATION_DECIDED
    check_payload(decided, sample_payload(decided, approved=False, approvedBy=None))
    assert refused_at(decided, approved=True, approvedBy=None) == "payload.approvedBy"


@pytest.mark.parametrize(
    ("name", "value"),
    [("code", "No Code"), ("fromSet", "all"), ("detectedOperation", ""), ("executionId", None)],
)
def test_a_refusal_without_a_question_says_why(name: str, value: Any) -> None:
    """ESCALATION §log-5: its code, the set, the operation and whose execution; a resource may lack."""
    refused = EventType.PERMISSION_ESCALATION_REFUSED
    check_payload(refused, sample_payload(refused, resource=None))
    assert refused_at(refused, **{name: value}) == f"payload.{name}"


@pytest.mark.parametrize(
    ("name", "value"),
    [("permissionConfidence", 1.5), ("version", 0), ("permissionSet", "all"), ("codeHash", "x")],
)
def test_a_saved_pattern_is_within_its_ranges(name: str, value: Any) -> None:
    """A confidence is a share, a version counts from one, a set has a name, a hash a form."""
    assert refused_at(EventType.WORKFLOW_PATTERN_SAVED, **{name: value}) == f"payload.{name}"


@pytest.mark.parametrize("previous", TransactionState)
@pytest.mark.parametrize("following", TransactionState)
def test_only_legal_steps_of_a_transaction_are_recorded(
    previous: TransactionState, following: TransactionState
) -> None:
    """CONTRACTS §3: a step that the table lacks is refused, whatever else the event says."""
    transition = EventType.TRANSACTION_TRANSITION
    is_retry = previous is TransactionState.FAILED_PRE_APPLY
    changes = {
        "prevState": previous.value,
        "nextState": following.value,
        "attemptNo": 2 if is_retry else 1,
    }
    if following in STEPS[previous]:
        check_payload(transition, sample_payload(transition, **changes))
    else:
        assert refused_at(transition, **changes) == "payload.nextState"


def test_a_transition_has_the_number_of_its_attempt() -> None:
    """What is received is the first; a preview made anew is never the first."""
    transition = EventType.TRANSACTION_TRANSITION
    first = {"prevState": "RECEIVED", "nextState": "PREVIEWING"}
    again = {"prevState": "FAILED_PRE_APPLY", "nextState": "PREVIEWING"}
    assert refused_at(transition, **first, attemptNo=2) == "payload.attemptNo"
    assert refused_at(transition, **again, attemptNo=1) == "payload.attemptNo"


@pytest.mark.parametrize("state", sorted(KEYED))
def test_applying_and_rolling_back_take_a_key(state: TransactionState) -> None:
    """CONTRACTS §3-apply, §3-rollback; the other stages have none."""
    transition = EventType.TRANSACTION_TRANSITION
    previous = next(one for one, following in STEPS.items() if state in following)
    into = {"prevState": previous.value, "nextState": state.value}
    assert refused_at(transition, **into, idempotencyKey=None) == "payload.idempotencyKey"
    away = {"prevState": "APPLYING", "nextState": "APPLIED", "idempotencyKey": None}
    check_payload(transition, sample_payload(transition, **away))
