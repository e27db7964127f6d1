"""Tables that are filled from events: what the ledger says, laid out for queries.

A projection's row is made from its event and nothing else, inside the transaction that appends the
event, so that the two are never apart and `rebuild` can make the same rows again from the ledger.

- `permission_audit_log`: one row for each decision about a permission set (ESCALATION AC6).
- `workflow_pattern`: saved capabilities as they are now (ESCALATION AC4). A save never replaces one
  of a higher version, nor a later one of the same version, so that the outcome does not hang on the
  order in which machines committed. Whoever saves gives each change of a capability its own moment.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from consentry.base.canonical import canonical_json
from consentry.base.clock import Instant
from consentry.base.values import dataclass
from consentry.record.envelope import LinkedEvent
from consentry.store.database import Transaction, Value

_MILLISECONDS = 1000


@dataclass(frozen=True, slots=True)
class Projection:
    """One table: the event type that fills it, and how a row is made and put there."""

    table: str
    statement: str
    row: Callable[[Instant, Mapping[str, Any]], tuple[Value, ...]]


def _decision(at: Instant, payload: Mapping[str, Any]) -> tuple[Value, ...]:
    return (
        payload["id"],
        at.unix_ms // _MILLISECONDS,
        payload["capabilityId"],
        payload["fromSet"],
        payload["toSet"],
        int(payload["approved"]),
        payload["approvedBy"],
        payload["reason"],
        payload["detectedOperation"],
    )


def _pattern(_at: Instant, payload: Mapping[str, Any]) -> tuple[Value, ...]:
    return (
        payload["id"],
        payload["name"],
        payload["language"],
        payload["code"],
        payload["codeHash"],
        payload["version"],
        payload["permissionSet"],
        float(payload["permissionConfidence"]),
        payload["permissionSource"],
        canonical_json(payload["detectedPatterns"]).decode(),
        payload["createdAt"],
        payload["updatedAt"],
    )


PROJECTIONS: Final[Mapping[str, Projection]] = {
    "permission.escalation.decided": Projection(
        "permission_audit_log",
        "INSERT INTO permission_audit_log (id, timestamp, capability_id, from_set, to_set, approved, "
        "approved_by, reason, detected_operation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        _decision,
    ),
    "workflow.pattern.saved": Projection(
        "workflow_pattern",
        "INSERT INTO workflow_pattern (id, name, language, code, code_hash, version, permission_set, "
        "permission_confidence, permission_source, detected_patterns, created_at, updated_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
        "name = excluded.name, language = excluded.language, code = excluded.code, "
        "code_hash = excluded.code_hash, version = excluded.version, "
        "permission_set = excluded.permission_set, "
        "permission_confidence = excluded.permission_confidence, "
        "permission_source = excluded.permission_source, "
        "detected_patterns = excluded.detected_patterns, "
        "created_at = excluded.created_at, updated_at = excluded.updated_at "
        "WHERE (excluded.version, excluded.updated_at) "
        ">= (workflow_pattern.version, workflow_pattern.updated_at)",
        _pattern,
    ),
}
"""By the type of the event that fills the table."""


def project(transaction: Transaction, events: Sequence[LinkedEvent]) -> None:
    """Fills the tables from the events of this transaction; most events have none."""
    for event in events:
        projection = PROJECTIONS.get(event.draft.type)
        if projection is not None:
            row = projection.row(event.draft.timestamp, event.draft.payload)
            transaction.run(projection.statement, row)
