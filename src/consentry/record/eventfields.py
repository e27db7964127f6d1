"""What the payloads of the documents' own events hold: modules, trust, escalation.

Names are the documents' own. Null stands only where a document lets it: in the six capability
events in `actionId` and `transactionId`, and in the approver of a request that nobody has answered
yet (CONTRACTS §12-events-1).
"""

from collections.abc import Mapping
from typing import Any, Final

from consentry.record.fieldrules import (
    ANY_TEXT,
    BOOLEAN,
    CODE_WORD,
    DIGEST,
    INSTANT,
    LIST,
    OBJECT,
    SHARE,
    TEXT,
    Field,
    Kind,
    field,
    id_of,
    nullable,
    object_of,
    one_of,
    refuse,
    whole_from,
)

ROLES: Final = ("owner", "approver", "operator", "viewer", "system")
PERMISSION_SETS: Final = (
    "minimal",
    "readonly",
    "filesystem",
    "network-api",
    "mcp-standard",
    "trusted",
)
"""The names of `surface.permission_sets`, which is too heavy to load for every append."""

TOKEN_TYPES: Final = (
    "NpmInstallCapability",
    "FsReadWriteCapability",
    "GitLocalOpsCapability",
    "CapabilityBundle",
)

USE_KINDS: Final = ("npm_install", "git_local", "fs_read", "fs_write")
"""What a budget counts (TRUST §token-6)."""

REASON_CODES: Final = (
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
"""The reject codes of MODULES §code-1, and the other words of CONTRACTS §12-reason."""

ROLE: Final = one_of(*ROLES)
PERMISSION_SET: Final = one_of(*PERMISSION_SETS)


def _whole_approver(event: Mapping[str, Any]) -> None:
    if (event["approverIdentity"] is None) is not (event["approverRole"] is None):
        refuse("approverRole", "must name the approver and the role, or neither")


def _capability_event(*decisions: str) -> Kind:
    # A request may still be without an approver; a decision is always somebody's.
    is_open = decisions == ("requested",)
    approver = nullable if is_open else field
    return object_of(
        field("eventId", id_of("event")),
        field("timestampUtc", INSTANT),
        field("moduleId", TEXT),
        field("moduleVersion", TEXT),
        field("capabilityId", TEXT),
        nullable("actionId", TEXT),
        nullable("transactionId", TEXT),
        field("decision", one_of(*decisions)),
        field("decisionReasonCode", one_of(*REASON_CODES)),
        approver("approverIdentity", TEXT),
        approver("approverRole", ROLE),
        field("grantScope", one_of("session", "persistent", "none")),
        field("grantVersion", TEXT),
        across=(_whole_approver,) if is_open else (),
    )


ESCALATION_REQUESTED: Final = _capability_event("requested")
ESCALATION_APPROVED: Final = _capability_event("approved")
ESCALATION_DENIED: Final = _capability_event("denied", "timeout")
CAPABILITY_REJECTED: Final = _capability_event("rejected")
"""For a rejected check and for both roll-backs (MODULES §audit-5)."""


def _one_ground(minted: Mapping[str, Any]) -> None:
    if (minted["consentId"] is None) is (minted["grantId"] is None):
        refuse("consentId", "must name either the consent or the grant it was minted against")


def _known_limits(minted: Mapping[str, Any]) -> None:
    for kind, most in (minted["budget"] or {}).items():
        if kind not in USE_KINDS:
            refuse("budget", f"cannot limit `{kind}`, which is no kind of use")
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            refuse("budget", f"must have a whole number from 0 on for `{kind}`")


_TOKEN: Final[tuple[Field, ...]] = (
    field("tokenId", id_of("token")),
    field("capability", one_of(*TOKEN_TYPES)),
    field("workflow", TEXT),
)
CAPABILITY_MINTED: Final = object_of(
    *_TOKEN,
    field("scope", OBJECT),
    nullable("consentId", id_of("consent")),
    nullable("grantId", id_of("grant")),
    nullable("tool", TEXT),
    field("workspace", TEXT),
    field("machineId", TEXT),
    nullable("partOf", id_of("token")),
    field("digest", DIGEST),
    field("mintedAt", INSTANT),
    field("expiresAt", INSTANT),
    nullable("budget", OBJECT),
    across=(_one_ground, _known_limits),
)
CAPABILITY_USED: Final = object_of(
    *_TOKEN, field("kind", one_of(*USE_KINDS)), field("operation", TEXT), nullable("target", TEXT)
)
# The name of the root folder is empty, and a jail may be the root folder.
FILESYSTEM_RACE_DETECTED: Final = object_of(
    field("jail", TEXT), field("relative", TEXT), field("component", ANY_TEXT)
)
PLUGIN_REJECTED: Final = object_of(
    field("plugin", TEXT),
    field("reason", CODE_WORD),
    nullable("expected", DIGEST),
    nullable("found", DIGEST),
)


def _approved_by_somebody(decision: Mapping[str, Any]) -> None:
    if decision["approved"] and decision["approvedBy"] is None:
        refuse("approvedBy", "cannot have null here when it was approved")


PERMISSION_ESCALATION_DECIDED: Final = object_of(
    field("id", TEXT),
    field("capabilityId", TEXT),
    field("fromSet", PERMISSION_SET),
    field("toSet", PERMISSION_SET),
    field("approved", BOOLEAN),
    nullable("approvedBy", TEXT),
    nullable("reason", ANY_TEXT),
    nullable("detectedOperation", TEXT),
    field("ephemeral", BOOLEAN),
    across=(_approved_by_somebody,),
)
PERMISSION_ESCALATION_REFUSED: Final = object_of(
    field("id", TEXT),
    field("capabilityId", TEXT),
    field("fromSet", PERMISSION_SET),
    field("code", CODE_WORD),
    field("detectedOperation", TEXT),
    nullable("resource", ANY_TEXT),
    field("reason", ANY_TEXT),
    field("ephemeral", BOOLEAN),
    field("executionId", TEXT),
)
WORKFLOW_PATTERN_SAVED: Final = object_of(
    field("id", TEXT),
    field("name", TEXT),
    field("language", TEXT),
    field("code", ANY_TEXT),
    field("codeHash", DIGEST),
    field("version", whole_from(1)),
    field("permissionSet", PERMISSION_SET),
    field("permissionConfidence", SHARE),
    field("permissionSource", TEXT),
    field("detectedPatterns", LIST),
    field("createdAt", INSTANT),
    field("updatedAt", INSTANT),
)
