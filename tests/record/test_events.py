"""The event vocabulary (MODULES §audit, TRUST, CONSENT §audit, GUARD §5, ESCALATION AC7)."""

import pytest

from consentry.record.events import CAPABILITY_FIELDS, EventGroup, EventType


def test_the_six_capability_events_carry_the_thirteen_fields() -> None:
    """Names and fields to the letter."""
    capability = [event for event in EventType if event.startswith("capability.")]
    assert capability == [
        "capability.escalation.requested",
        "capability.escalation.approved",
        "capability.escalation.denied",
        "capability.check.rejected",
        "capability.rollback.executed",
        "capability.rollback.failed",
    ]
    assert CAPABILITY_FIELDS == (
        "eventId",
        "timestampUtc",
        "moduleId",
        "moduleVersion",
        "capabilityId",
        "actionId",
        "transactionId",
        "decision",
        "decisionReasonCode",
        "approverIdentity",
        "approverRole",
        "grantScope",
        "grantVersion",
    )
    assert all(event.fields == CAPABILITY_FIELDS for event in capability)


def test_the_trust_events_have_their_names() -> None:
    """Minted, used, race, rejected."""
    assert {event.value for event in EventType if event.group is EventGroup.TRUST} == {
        "CapabilityMinted",
        "CapabilityUsed",
        "FilesystemRaceDetected",
        "PluginRejected",
    }


def test_the_audit_entry_has_the_parts_of_its_document() -> None:
    """CONSENT §audit-2, in its order."""
    assert EventType.TOOL_AUDIT.fields == (
        "id",
        "timestamp",
        "tool",
        "user",
        "execution",
        "impact",
        "sandbox",
        "context",
    )


def test_the_verdict_has_the_keys_of_its_document() -> None:
    """GUARD §5, and of what CONTRACTS §7 adds those that stand at the top."""
    assert set(EventType.GUARD_VERDICT.fields) == {
        "status",
        "risk_band",
        "surface_before",
        "surface_after",
        "delta",
        "reasons",
        "required_wish_fields_missing",
        "witnesses",
        "schema_version",
        "delta_dimensions",
        "rungs",
    }


def test_a_transition_has_the_fields_of_its_document() -> None:
    """CONTRACTS §3; `eventId` is the envelope's. What single stages add comes after them."""
    assert EventType.TRANSACTION_TRANSITION.fields[:11] == (
        "timestamp",
        "txId",
        "attemptNo",
        "track",
        "stage",
        "prevState",
        "nextState",
        "actorId",
        "actorRole",
        "requestId",
        "idempotencyKey",
    )


def test_the_rows_of_the_escalation_tables_can_be_told_from_their_events() -> None:
    """ESCALATION AC6: every column but the time, which is the envelope's, and the mark besides."""
    assert EventType.PERMISSION_ESCALATION_DECIDED.fields == (
        "id",
        "capabilityId",
        "fromSet",
        "toSet",
        "approved",
        "approvedBy",
        "reason",
        "detectedOperation",
        "ephemeral",
    )
    assert EventType.WORKFLOW_PATTERN_SAVED.fields == (
        "id",
        "name",
        "language",
        "code",
        "codeHash",
        "version",
        "permissionSet",
        "permissionConfidence",
        "permissionSource",
        "detectedPatterns",
        "createdAt",
        "updatedAt",
    )


def test_every_life_begins_and_ends_by_an_event() -> None:
    """The product's own things: what the store keeps is told by these."""
    lives = {event.value for event in EventType if event.group in _LIVES}
    assert lives == {
        "approval.requested",
        "approval.answered",
        "approval.expired",
        "approval.superseded",
        "consent.given",
        "consent.used",
        "consent.revoked",
        "workspace.accepted",
        "workspace.withdrawn",
        "grant.given",
        "grant.revoked",
        "run.decided",
        "permit.made",
        "permit.spent",
        "session.started",
        "session.ended",
        "machine.registered",
        "ledger.checkpoint",
        "ledger.archived",
        "ledger.purged",
        "ledger.rebuilt",
    }


@pytest.mark.parametrize("event_type", EventType)
def test_every_type_is_explained_and_carries_something(event_type: EventType) -> None:
    """No type without a meaning, a group and a field; no field twice."""
    assert event_type.meaning
    assert event_type.group in EventGroup
    assert event_type.fields
    assert len(set(event_type.fields)) == len(event_type.fields)


def test_every_group_has_an_event() -> None:
    """A group without one would be an empty section of the reference."""
    assert {event.group for event in EventType} == set(EventGroup)


_LIVES = frozenset(
    {
        EventGroup.APPROVALS,
        EventGroup.CONSENTS,
        EventGroup.ACCEPTANCES,
        EventGroup.GRANTS,
        EventGroup.PERMITS,
        EventGroup.SESSIONS,
        EventGroup.MACHINES,
        EventGroup.LEDGER,
    }
)
