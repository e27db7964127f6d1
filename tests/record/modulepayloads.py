"""One payload of every event in a module's life, and the values that samples share."""

from collections.abc import Callable
from typing import Any

from consentry.record.events import EventType

AT = "2026-01-01T00:00:00.000Z"
LATER = "2026-01-01T00:00:30.000Z"
DIGEST = "sha256:" + "5" * 64
MACHINE = "machine-" + "1" * 32
USER = "local:1000:user@host"


def sample_id(prefix: str, number: int = 1) -> str:
    """An id of that kind."""
    return f"{prefix}-00000000-0000-7000-8000-{number:012x}"


_MODULE = {
    "hostId": "note-board",
    "moduleId": "outline",
    "moduleVersion": "1.2.0",
    "packageDigest": DIGEST,
}
_ACTION = {
    "actionRunId": sample_id("action"),
    **_MODULE,
    "actionId": "count",
    "origin": "interactive",
}

MODULE_PAYLOADS: dict[EventType, Callable[[], dict[str, Any]]] = {
    EventType.HOST_REGISTERED: lambda: {
        "hostId": "note-board",
        "appVersion": "1.0.0",
        "digest": DIGEST,
        "document": {"hostId": "note-board"},
        "registeredAt": AT,
    },
    EventType.HOST_REMOVED: lambda: {
        "hostId": "note-board",
        "digest": DIGEST,
        "removedBy": USER,
        "removedAt": AT,
    },
    EventType.MODULE_IMPORTED: lambda: {
        **_MODULE,
        "capabilities": ["state.read"],
        "catalogVersion": "1.0.0",
        "hasGraph": False,
        "replacedVersion": "1.1.0",
        "replacedDigest": DIGEST,
        "importedBy": USER,
        "importedAt": AT,
    },
    EventType.MODULE_IMPORT_REJECTED: lambda: {
        "hostId": "note-board",
        "moduleId": "outline",
        "code": "invalid-package-key",
        "path": "package.script",
        "contentDigest": DIGEST,
    },
    EventType.MODULE_REMOVED: lambda: {
        **_MODULE,
        "removedBy": USER,
        "removedAt": AT,
        "grants": 2,
        "storedKeys": 0,
    },
    EventType.MODULE_MODE_CHANGED: lambda: {
        "mode": "deny-all",
        "previous": "normal",
        "reason": "looking into it",
        "changedBy": USER,
        "changedAt": AT,
    },
    EventType.MODULE_CAPABILITY_USED: lambda: {
        **_ACTION,
        "capabilityId": "state.read",
        "grantId": sample_id("grant"),
        "grantVersion": "1.0.0",
        "commands": ["notes.count"],
        "transactionId": "tx-1",
        "operation": {"operation": "put", "key": "view"},
    },
    EventType.MODULE_ACTION_ENDED: lambda: {
        **_ACTION,
        "outcome": "failed",
        "code": "export-refused",
        "detail": {"why": "it exists"},
    },
}
