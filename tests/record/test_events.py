"""The event vocabulary (MODULES §audit, TRUST)."""

from consentry.record.events import CAPABILITY_FIELDS, EventType


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
    assert {"CapabilityMinted", "CapabilityUsed", "FilesystemRaceDetected", "PluginRejected"} <= {
        event.value for event in EventType
    }
