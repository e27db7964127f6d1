"""The names of the events the ledger holds, each with the fields its payload must carry.

One vocabulary for every room; names and fields are the documents' own (MODULES §audit, TRUST,
CONSENT §audit, GUARD §5, ESCALATION AC7). Every event carries `evidenceChannel` and the other
envelope fields besides; those are the ledger's business and are not repeated here.
`docs/reference/events.md` is generated from this table.
"""

from enum import StrEnum
from typing import Self

CAPABILITY_FIELDS = (
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
"""The thirteen fields of every capability event; all are always present."""


class EventType(StrEnum):
    """An event's type, as stored; `meaning` and `fields` are for the reference and the checks."""

    meaning: str
    fields: tuple[str, ...]

    def __new__(cls, name: str, meaning: str, fields: tuple[str, ...]) -> Self:
        """A member is its own stored name; the rest of the row hangs on it."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.meaning = meaning
        member.fields = fields
        return member

    ESCALATION_REQUESTED = (
        "capability.escalation.requested",
        "a module lacks a capability it needs, and a person is asked",
        CAPABILITY_FIELDS,
    )
    ESCALATION_APPROVED = (
        "capability.escalation.approved",
        "the person granted the capability",
        CAPABILITY_FIELDS,
    )
    ESCALATION_DENIED = (
        "capability.escalation.denied",
        "the person, a cancelled prompt or the deadline said no",
        CAPABILITY_FIELDS,
    )
    CHECK_REJECTED = (
        "capability.check.rejected",
        "an action was refused by the capability policy",
        CAPABILITY_FIELDS,
    )
    ROLLBACK_EXECUTED = (
        "capability.rollback.executed",
        "a violation in the middle of an apply was undone",
        CAPABILITY_FIELDS,
    )
    ROLLBACK_FAILED = (
        "capability.rollback.failed",
        "a violation in the middle of an apply could not be undone",
        CAPABILITY_FIELDS,
    )
    CAPABILITY_MINTED = (
        "CapabilityMinted",
        "a capability token was made against a consent or grant",
        (),
    )
    CAPABILITY_USED = ("CapabilityUsed", "an operation was done with a capability token", ())
    FILESYSTEM_RACE_DETECTED = (
        "FilesystemRaceDetected",
        "a path became a link between its check and its use",
        ("jail", "relative", "component"),
    )
    PLUGIN_REJECTED = ("PluginRejected", "a plugin failed its check and was not loaded", ())
