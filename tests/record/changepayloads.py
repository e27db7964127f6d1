"""A valid payload for every event of transactions, certification and sign-off."""

from collections.abc import Callable
from typing import Any, Final

from consentry.record.events import EventType
from tests.record.modulepayloads import AT, DIGEST, USER, sample_id

CHANGE_PAYLOADS: Final[dict[EventType, Callable[[], dict[str, Any]]]] = {
    EventType.TRANSACTION_TRANSITION: lambda: {
        "timestamp": AT,
        "txId": "tx-1",
        "attemptNo": 1,
        "track": "heavy",
        "stage": "apply",
        "prevState": "APPLYING",
        "nextState": "FAILED_PRE_APPLY",
        "actorId": USER,
        "actorRole": "owner",
        "requestId": sample_id("request"),
        "idempotencyKey": "apply-1",
        "documentId": "note-board",
        "hostId": "note-board",
        "moduleId": "word-count",
        "moduleVersion": "1.0.0",
        "actionId": "count",
        "actionRunId": sample_id("action"),
        "approvalRequired": True,
        "baseRevision": DIGEST,
        "candidateRevision": DIGEST,
        "previewHash": DIGEST,
        "approval": {
            "txId": "tx-1",
            "attemptNo": 1,
            "previewHash": DIGEST,
            "baseRevision": DIGEST,
            "approverId": USER,
            "approverRole": "owner",
            "decision": "approved",
            "decisionAt": AT,
            "approvalTtlSeconds": 600,
            "requestId": sample_id("request"),
        },
        "commitId": None,
        "durationMs": 12,
        "error": {
            "code": "base-moved",
            "class": "conflict",
            "safeToRetry": True,
            "recoveryAction": "preview-again",
        },
        "afterPartialApply": False,
    },
    EventType.TRANSACTION_RESOLVED: lambda: {
        "txId": "tx-1",
        "attemptNo": 1,
        "documentId": "note-board",
        "reason": "restored the notes from the backup of this morning",
        "resolvedBy": USER,
        "resolvedRole": "operator",
        "resolvedAt": AT,
    },
    EventType.CERTIFICATION_CHECKED: lambda: {
        "corpusVersion": "1.0.0",
        "caseId": "valid-button",
        "caseKind": "valid",
        "subjectDigest": DIGEST,
        "answers": [{"code": "imported", "path": None}],
        "expectedCode": "imported",
        "expectedPath": None,
        "controlFields": None,
    },
    EventType.SIGNOFF_RESOLVED: lambda: {
        "violationEventId": sample_id("event"),
        "rootCause": "the board let a module write outside of its commands",
        "correctiveAction": "writes are checked against the command's paths since 1.2.0",
        "resolvedBy": USER,
        "resolvedAt": AT,
    },
}
