"""A valid payload and a valid draft for every type of event, for tests that need one of each."""

from collections.abc import Callable
from typing import Any

from consentry.base.clock import Clock
from consentry.base.ids import IdSource
from consentry.record.envelope import Context, Draft
from consentry.record.events import EventGroup, EventType
from consentry.record.verdictfields import RUNGS, WITNESSES
from consentry.surface.lattice import NOTHING
from consentry.surface.wire import surface_to_json
from tests.record.changepayloads import CHANGE_PAYLOADS
from tests.record.modulepayloads import AT, DIGEST, LATER, MACHINE, MODULE_PAYLOADS, USER, sample_id

__all__ = [
    "AT",
    "DIGEST",
    "LATER",
    "MACHINE",
    "USER",
    "sample_draft",
    "sample_id",
    "sample_payload",
]


def sample_payload(event_type: EventType, **changes: Any) -> dict[str, Any]:
    """A payload that the type accepts, fresh each time, with these fields changed."""
    if event_type.group is EventGroup.MODULES:
        payload = _capability(event_type)
    else:
        payload = _SAMPLES[event_type]()
    return {**payload, **changes}


def sample_draft(
    event_type: EventType, ids: IdSource, clock: Clock, context: Context, **changes: Any
) -> Draft:
    """A draft of that type; where its payload repeats the envelope's id or time, it agrees."""
    event_id, now = ids.new("event"), clock.now()
    repeated: dict[str, str] = {}
    if event_type.group is EventGroup.MODULES:
        repeated = {"eventId": event_id, "timestampUtc": str(now)}
    elif event_type is EventType.TRANSACTION_TRANSITION:
        repeated = {"timestamp": str(now)}
    payload = sample_payload(event_type, **{**repeated, **changes})
    return Draft(event_id, event_type, now, f"sample:{event_type.group}", context, payload)


def kept_for(span: object) -> dict[str, Any]:
    """What the payload of `tool.audit` has besides where its tool says how long it is to stay."""
    return {"tool": {"name": "lint", "version": "1.0.0", "auditConfig": {"retainLogs": span}}}


def _capability(event_type: EventType) -> dict[str, Any]:
    is_open = event_type is EventType.ESCALATION_REQUESTED
    decision, reason, scope = {
        EventType.ESCALATION_REQUESTED: ("requested", "capability-not-granted", "none"),
        EventType.ESCALATION_APPROVED: ("approved", "user-approved-session", "session"),
        EventType.ESCALATION_DENIED: ("timeout", "deadline", "none"),
    }.get(event_type, ("rejected", "capability-policy-violation", "none"))
    return {
        "eventId": sample_id("event"),
        "timestampUtc": AT,
        "moduleId": "outline",
        "moduleVersion": "1.2.0",
        "capabilityId": "state.write.tx",
        "actionId": "sort-entries",
        "transactionId": None,
        "decision": decision,
        "decisionReasonCode": reason,
        "approverIdentity": None if is_open else USER,
        "approverRole": None if is_open else "owner",
        "grantScope": scope,
        "grantVersion": "1.0.0",
    }


def _tool_audit() -> dict[str, Any]:
    return {
        "id": sample_id("audit"),
        "timestamp": LATER,
        "tool": {"name": "build-latex", "version": "1.0.0"},
        "user": {
            "id": USER,
            "consentGiven": True,
            "consentTimestamp": AT,
            "consentMethod": "explicit_approval",
        },
        "execution": {"startTime": AT, "endTime": LATER, "status": "success", "exitCode": 0},
        "impact": {
            "filesRead": [{"path": "latex/main.tex", "hash": DIGEST}],
            "filesWritten": [{"path": "output/main.pdf", "hash": DIGEST, "size": 245_678}],
            "filesDeleted": [],
            "committed": True,
        },
        "sandbox": {
            "profile": "tool:build-latex",
            "violations": [],
            "resourceUsage": {"cpuTime": "32s", "memoryPeak": "128MB"},
        },
        "context": {"workflowId": None, "sessionId": None, "triggeredBy": "user_command"},
    }


def _guard_verdict() -> dict[str, Any]:
    after = {**surface_to_json(NOTHING), "net_access": "ALLOWLIST"}
    return {
        "schema_version": 1,
        "status": "BLOCKED",
        "risk_band": "RED",
        "surface_before": surface_to_json(NOTHING),
        "surface_after": after,
        "delta": [
            {
                "dimension": "NET_ACCESS",
                "before": "NONE",
                "after": "ALLOWLIST",
                "reason": "import httpx",
                "file": "feed.py",
                "line": 3,
            }
        ],
        "delta_dimensions": ["NET_ACCESS"],
        "reasons": [{"tag": "capability_escalation:NET_ACCESS", "detail": "not allowed"}],
        "required_wish_fields_missing": ["allowed_capabilities.net_access"],
        "rungs": {rung: {"ok": True, "checks": []} for rung in RUNGS},
        "witnesses": [f"{address}#{DIGEST}" for address in WITNESSES],
    }


def _approval_requested() -> dict[str, Any]:
    return {
        "requestId": sample_id("request"),
        "kind": "consent",
        "subject": "tool:build-latex",
        "question": "may build-latex run?",
        "preview": {"writes": ["output/main.pdf"]},
        "digest": DIGEST,
        "policyHash": None,
        "sessionId": sample_id("session"),
        "machineId": MACHINE,
        "requestedAt": AT,
        "deadline": LATER,
    }


def _consent_given() -> dict[str, Any]:
    return {
        "consentId": sample_id("consent"),
        "tool": "build-latex",
        "version": "1.0.0",
        "digest": DIGEST,
        "surface": surface_to_json(NOTHING),
        "arguments": None,
        "lasts": "session",
        "sessionId": sample_id("session"),
        "expiresAt": None,
        "machineScope": "this machine",
        "policyHash": DIGEST,
        "method": "explicit_approval",
        "givenBy": USER,
        "givenAt": AT,
    }


def _grant_given() -> dict[str, Any]:
    return {
        "grantId": sample_id("grant"),
        "hostId": "note-board",
        "moduleId": "outline",
        "moduleVersion": "1.2.0",
        "packageDigest": DIGEST,
        "capabilityId": "state.write.tx",
        "scope": "session",
        "grantVersion": "1.0.0",
        "sessionId": sample_id("session"),
        "givenBy": USER,
        "givenRole": "owner",
        "givenAt": AT,
        "requestId": sample_id("request"),
    }


def _permit_made() -> dict[str, Any]:
    return {
        "permitId": sample_id("permit"),
        "subject": "tool:build-latex",
        "digests": {"tool": DIGEST, "program": DIGEST},
        "arguments": ["main.tex", ""],
        "surface": surface_to_json(NOTHING),
        "machineId": MACHINE,
        "decisionEventId": sample_id("event"),
        "madeAt": AT,
        "expiresAt": LATER,
    }


_SAMPLES: dict[EventType, Callable[[], dict[str, Any]]] = {
    EventType.CAPABILITY_MINTED: lambda: {
        "tokenId": sample_id("token"),
        "capability": "FsReadWriteCapability",
        "workflow": "paper",
        "scope": {"read": [], "write": ["latex/"]},
        "consentId": sample_id("consent"),
        "grantId": None,
        "tool": "build-latex",
        "workspace": "/place/paper",
        "machineId": MACHINE,
        "partOf": None,
        "digest": DIGEST,
        "mintedAt": AT,
        "expiresAt": LATER,
        "budget": {"fs_write": 50},
    },
    EventType.CAPABILITY_USED: lambda: {
        "tokenId": sample_id("token"),
        "capability": "FsReadWriteCapability",
        "workflow": "paper",
        "kind": "fs_write",
        "operation": "write",
        "target": "latex/main.aux",
    },
    EventType.FILESYSTEM_RACE_DETECTED: lambda: {
        "jail": "/jail",
        "relative": "a/b",
        "component": "a",
    },
    EventType.PLUGIN_REJECTED: lambda: {
        "plugin": "spelling",
        "reason": "integrity_mismatch",
        "expected": DIGEST,
        "found": "sha256:" + "6" * 64,
    },
    EventType.TOOL_AUDIT: _tool_audit,
    EventType.GUARD_VERDICT: _guard_verdict,
    EventType.PERMISSION_ESCALATION_DECIDED: lambda: {
        "id": sample_id("escalation"),
        "capabilityId": "fetch-feed",
        "fromSet": "minimal",
        "toSet": "network-api",
        "approved": True,
        "approvedBy": USER,
        "reason": "PermissionDenied: Requires net access",
        "detectedOperation": "net",
        "ephemeral": False,
    },
    EventType.PERMISSION_ESCALATION_REFUSED: lambda: {
        "id": sample_id("escalation"),
        "capabilityId": "fetch-feed",
        "fromSet": "minimal",
        "code": "escalation-critical",
        "detectedOperation": "run",
        "resource": "/bin/sh",
        "reason": "PermissionDenied: Requires run access to /bin/sh",
        "ephemeral": False,
        "executionId": sample_id("execution"),
    },
    EventType.WORKFLOW_PATTERN_SAVED: lambda: {
        "id": sample_id("pattern"),
        "name": "fetch-feed",
        "language": "typescript",
        "code": "export default 1;",
        "codeHash": DIGEST,
        "version": 1,
        "permissionSet": "minimal",
        "permissionConfidence": 0.95,
        "permissionSource": "emergent",
        "detectedPatterns": ["fetch"],
        "createdAt": AT,
        "updatedAt": AT,
    },
    **CHANGE_PAYLOADS,
    EventType.APPROVAL_REQUESTED: _approval_requested,
    EventType.APPROVAL_ANSWERED: lambda: {
        "requestId": sample_id("request"),
        "decision": "approved",
        "answeredBy": USER,
        "answeredRole": "owner",
        "channel": "terminal",
        "answeredAt": LATER,
        "reason": "needed for the release",
    },
    EventType.APPROVAL_EXPIRED: lambda: {"requestId": sample_id("request"), "deadline": LATER},
    EventType.APPROVAL_SUPERSEDED: lambda: {
        "requestId": sample_id("request"),
        "why": "the policy changed",
    },
    EventType.CONSENT_GIVEN: _consent_given,
    EventType.CONSENT_USED: lambda: {"consentId": sample_id("consent"), "usedAt": LATER},
    EventType.CONSENT_REVOKED: lambda: {
        "consentId": sample_id("consent"),
        "revokedBy": USER,
        "revokedAt": LATER,
    },
    EventType.WORKSPACE_ACCEPTED: lambda: {
        "acceptanceId": sample_id("acceptance"),
        "machineId": MACHINE,
        "workspace": "/home/user/src/paper",
        "digest": DIGEST,
        "files": [{"path": ".consentry/consent-config.yaml", "hash": DIGEST}],
        "acceptedBy": USER,
        "acceptedAt": AT,
    },
    EventType.WORKSPACE_WITHDRAWN: lambda: {
        "acceptanceId": sample_id("acceptance"),
        "withdrawnBy": USER,
        "withdrawnAt": LATER,
    },
    EventType.KEY_TRUSTED: lambda: {
        "name": "maintainer",
        "keyId": "ab" * 32,
        "algorithm": "ed25519",
        "how": "made",
        "endorsedBy": None,
        "expiresAt": LATER,
        "trustedAt": AT,
    },
    EventType.KEY_REVOKED: lambda: {
        "name": "maintainer",
        "keyId": "ab" * 32,
        "reason": "lost",
        "revokedAt": LATER,
    },
    EventType.PLUGIN_SIGNED: lambda: {
        "plugin": "build",
        "version": "1.2.0",
        "digest": DIGEST,
        "keyId": "ab" * 32,
        "format": "dsse",
        "signedAt": AT,
        "expiresAt": None,
    },
    EventType.PLUGIN_ACCEPTED: lambda: {
        "memoryId": sample_id("pluginmemory"),
        "machineId": MACHINE,
        "folder": "/home/user/.config/consentry/plugins",
        "plugin": "build",
        "version": "1.2.0",
        "digest": DIGEST,
        "strength": 1,
        "evidence": ["dsse"],
        "signers": ["maintainer"],
        "signedAt": AT,
        "acceptedAt": LATER,
    },
    EventType.PLUGIN_FORGOTTEN: lambda: {
        "memoryId": sample_id("pluginmemory"),
        "plugin": "build",
        "forgottenBy": USER,
        "forgottenAt": LATER,
    },
    **MODULE_PAYLOADS,
    EventType.GRANT_GIVEN: _grant_given,
    EventType.GRANT_REVOKED: lambda: {
        "grantId": sample_id("grant"),
        "revokedBy": USER,
        "revokedAt": LATER,
    },
    EventType.RUN_DECIDED: lambda: {
        "subject": "program:python3",
        "decision": "allowed",
        "consentMethod": "command_line",
        "profile": "set:filesystem",
        "arguments": ["python3", "build.py"],
        "surface": surface_to_json(NOTHING),
        "consent": {"level": "explicit", "givenBy": USER, "reason": "wanted"},
    },
    EventType.PERMIT_MADE: _permit_made,
    EventType.EFFECT_DECIDED: lambda: {
        "runId": sample_id("audit"),
        "permitId": sample_id("permit"),
        "action": "commit",
        "effectDigest": DIGEST,
        "decision": "allowed",
        "consentMethod": "strict_approval",
        "requestId": sample_id("request"),
    },
    EventType.EFFECT_SETTLED: lambda: {
        "runId": sample_id("audit"),
        "permitId": sample_id("permit"),
        "action": "commit",
        "effectDigest": DIGEST,
        "outcome": "conflict",
        "decisionEventId": sample_id("event"),
        "files": 3,
        "why": None,
        "conflicts": [{"path": "/project/a", "why": "it was changed while the run went on"}],
        "recovered": False,
    },
    EventType.PERMIT_SPENT: lambda: {
        "permitId": sample_id("permit"),
        "spentBy": MACHINE,
        "spentAt": LATER,
    },
    EventType.SESSION_STARTED: lambda: {
        "sessionId": sample_id("session"),
        "user": USER,
        "machineId": MACHINE,
        "kind": "terminal",
        "leader": {"pid": 4711, "startedAtTicks": 123_456, "bootId": "b" * 32},
        "startedAt": AT,
    },
    EventType.SESSION_ENDED: lambda: {
        "sessionId": sample_id("session"),
        "endedAt": LATER,
        "endedWhy": "process_gone",
    },
    EventType.MACHINE_REGISTERED: lambda: {"machineId": MACHINE, "hostName": "host"},
    EventType.LEDGER_CHECKPOINT: lambda: {
        "checkpointId": sample_id("checkpoint"),
        "storeId": "store-1",
        "rootHash": "a" * 64,
        "keyId": "ed25519:" + "c" * 16,
        "heads": [{"writer": MACHINE, "size": 3, "last": DIGEST, "root": "b" * 64}],
    },
    EventType.LEDGER_ARCHIVED: lambda: {
        "archiveId": sample_id("archive"),
        "digest": DIGEST,
        "events": 3,
        "writers": [
            {"writer": MACHINE, "events": 3, "firstSeq": 1, "lastSeq": 3, "root": "d" * 64}
        ],
        "before": AT,
        "olderThan": "30d",
    },
    EventType.LEDGER_PURGED: lambda: {"what": "expired requests", "count": 2},
    EventType.LEDGER_REBUILT: lambda: {
        "tables": ["permission_audit_log", "workflow_pattern"],
        "events": 12,
    },
}
