"""Tables that are filled from events: what the ledger says, laid out for queries.

A projection's row is made from its event and nothing else, inside the transaction that appends the
event, so that the two are never apart and `rebuild` can make the same rows again from the ledger.

- `permission_audit_log`: one row for each decision about a permission set (ESCALATION AC6).
- `workflow_pattern`: saved capabilities as they are now (ESCALATION AC4). A save never replaces one
  of a higher version, nor a later one of the same version, so that the outcome does not hang on the
  order in which machines committed. Whoever saves gives each change of a capability its own moment.
- `capability_token`: every token that was minted, and how often it was used (TRUST §token-2, §token-3).
- `capability_budget`: what each workflow may do and has done (TRUST §token-6). A limit that comes later
  can only be lower, so that here, too, no order of events gives more than another.
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
    """One table: how its rows are made from an event, mostly one, and put there."""

    table: str
    statement: str
    rows: Callable[[Instant, Mapping[str, Any]], Sequence[tuple[Value, ...]]]


def _decision(at: Instant, payload: Mapping[str, Any]) -> Sequence[tuple[Value, ...]]:
    row: tuple[Value, ...] = (
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
    return (row,)


def pattern_row(payload: Mapping[str, Any]) -> tuple[Value, ...]:
    """A saved capability as its row."""
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


def _pattern(_at: Instant, payload: Mapping[str, Any]) -> Sequence[tuple[Value, ...]]:
    return (pattern_row(payload),)


def _token(_at: Instant, payload: Mapping[str, Any]) -> Sequence[tuple[Value, ...]]:
    names = ("tokenId", "capability", "workflow", "workspace", "tool", "machineId")
    more = ("consentId", "grantId", "partOf", "digest")
    row: tuple[Value, ...] = (
        *(payload[name] for name in (*names, *more)),
        canonical_json(payload["scope"]).decode(),
        payload["mintedAt"],
        payload["expiresAt"],
    )
    return (row,)


def _limits(_at: Instant, payload: Mapping[str, Any]) -> Sequence[tuple[Value, ...]]:
    budget = payload["budget"] or {}
    return tuple((payload["workflow"], kind, most) for kind, most in sorted(budget.items()))


def _token_use(at: Instant, payload: Mapping[str, Any]) -> Sequence[tuple[Value, ...]]:
    return ((str(at), payload["tokenId"]),)


def _counted(_at: Instant, payload: Mapping[str, Any]) -> Sequence[tuple[Value, ...]]:
    return ((payload["workflow"], payload["kind"]),)


_DECISIONS = Projection(
    "permission_audit_log",
    "INSERT INTO permission_audit_log (id, timestamp, capability_id, from_set, to_set, approved, "
    "approved_by, reason, detected_operation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    _decision,
)
_PATTERNS = Projection(
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
)
_TOKENS = Projection(
    "capability_token",
    "INSERT INTO capability_token (token_id, capability, workflow, workspace, tool, machine_id, "
    "consent_id, grant_id, part_of, digest, scope, minted_at, expires_at, uses) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
    _token,
)
_LIMITS = Projection(
    "capability_budget",
    "INSERT INTO capability_budget (workflow, kind, most, uses, held) VALUES (?, ?, ?, 0, 0) "
    "ON CONFLICT (workflow, kind) DO UPDATE SET most = excluded.most "
    "WHERE capability_budget.most IS NULL OR excluded.most < capability_budget.most",
    _limits,
)
_TOKEN_USES = Projection(
    "capability_token",
    "UPDATE capability_token SET uses = uses + 1, used_at = ? WHERE token_id = ?",
    _token_use,
)
# Whoever appends has raised `held` before; where the events are replayed, nobody has.
_COUNTS = Projection(
    "capability_budget",
    "INSERT INTO capability_budget (workflow, kind, uses, held) VALUES (?, ?, 1, 1) "
    "ON CONFLICT (workflow, kind) DO UPDATE SET uses = capability_budget.uses + 1, "
    "held = CASE WHEN capability_budget.held > capability_budget.uses "
    "THEN capability_budget.held ELSE capability_budget.uses + 1 END",
    _counted,
)

PROJECTIONS: Final[Mapping[str, tuple[Projection, ...]]] = {
    "permission.escalation.decided": (_DECISIONS,),
    "workflow.pattern.saved": (_PATTERNS,),
    "CapabilityMinted": (_TOKENS, _LIMITS),
    "CapabilityUsed": (_TOKEN_USES, _COUNTS),
}
"""By the type of the event that fills the tables."""


def project(transaction: Transaction, events: Sequence[LinkedEvent]) -> None:
    """Fills the tables from the events of this transaction; most events have none."""
    for event in events:
        for projection in PROJECTIONS.get(event.draft.type, ()):
            for row in projection.rows(event.draft.timestamp, event.draft.payload):
                transaction.run(projection.statement, row)
