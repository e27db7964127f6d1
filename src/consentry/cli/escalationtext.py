"""How decisions about permission sets are told: in lines for people, and as documents."""

from collections.abc import Iterator, Mapping
from typing import Any

from consentry.base.clock import Instant
from consentry.base.safetext import safe_line
from consentry.cli.hanging import hanging
from consentry.cli.output import Output
from consentry.decide.permissionaudit import MANUAL, PermissionAuditLogEntry

LONGEST_REASON = 480
_WORD = 8
_NOBODY = "nobody"


def decision_lines(
    output: Output, entry: PermissionAuditLogEntry, name: str | None
) -> Iterator[str]:
    """One row of the log: when, what, of whom, from where to where, by whom; and the denial."""
    word, style = ("approved", "green") if entry.approved else ("rejected", "red")
    if entry.approved and entry.detected_operation == MANUAL:
        word = "by hand"
    who = safe_line(name or entry.capability_id)
    yield (
        f"{entry.timestamp.shown()}  {output.paint(f'{word:<{_WORD}}', style)}  {who}  "
        f"{entry.from_set} → {entry.to_set}"
    )
    yield from hanging("  by ", safe_line(entry.approved_by or _NOBODY))
    yield from _reason(entry.reason)


def decision_document(entry: PermissionAuditLogEntry, name: str | None) -> dict[str, object]:
    """The row in the names that ESCALATION gives its columns, the time in Unix seconds."""
    return {
        "id": entry.id,
        "timestamp": entry.timestamp.unix_ms // 1000,
        "capabilityId": entry.capability_id,
        "name": name,
        "fromSet": entry.from_set.value,
        "toSet": entry.to_set.value,
        "approved": entry.approved,
        "approvedBy": entry.approved_by,
        "reason": entry.reason,
        "detectedOperation": entry.detected_operation,
    }


def refusal_lines(output: Output, event: Mapping[str, Any], name: str | None) -> Iterator[str]:
    """A denial that nobody was asked about: when, of whom, in which set, and why not."""
    payload = event["payload"]
    when = Instant.parse(str(event["timestampUtc"])).shown()
    who = safe_line(name or str(payload["capabilityId"]))
    word = output.paint(f"{'refused':<{_WORD}}", "red")
    yield f"{when}  {word}  {who}  in {safe_line(str(payload['fromSet']))}"
    yield from hanging("  nobody was asked: ", safe_line(str(payload["code"])))
    yield from _reason(str(payload["reason"]))


def refusal_document(event: Mapping[str, Any], name: str | None) -> dict[str, object]:
    """What was recorded of it."""
    return {**event["payload"], "name": name, "timestampUtc": event["timestampUtc"]}


def _reason(reason: str | None) -> Iterator[str]:
    if reason:
        yield from hanging("  ", safe_line(reason, limit=LONGEST_REASON))
