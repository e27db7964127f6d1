"""`consentry capability history`: the versions of a capability, and how its set came to be what it is."""

from collections.abc import Iterator, Sequence

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.capabilityplace import (
    capabilities_to_read,
    complete_capability,
    decisions_of,
    found_capability,
)
from consentry.cli.capabilitytext import document_of
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.escalationtext import LONGEST_REASON, decision_document
from consentry.cli.hanging import hanging
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.decide.capabilities import Capability, PermissionSource
from consentry.decide.permissionaudit import MANUAL, PermissionAuditLogEntry
from consentry.store.capabilities import CapabilityStore

PAGE = Page(
    summary="Tell a capability's versions and every change of its set, the oldest first.",
    paragraphs=(
        "A change of its set says who approved it, or that it was set by hand.",
        "What was rejected changed nothing: `consentry escalations NAME` lists that, too.",
    ),
    arguments=(("NAME", "The name of a capability, or its id."),),
    examples=(
        ("consentry capability history word-count", "versions and sets"),
        ("consentry audit log --subject capability:ID", "its runs, by the id that `show` prints"),
    ),
    statuses=(
        ("0", "told"),
        ("2", "wrong usage, or nothing is saved under that name"),
        ("5", "the ledger cannot be read"),
        ("126", "the state directory is not safe to use"),
    ),
)

_CLOSE_MS = 2_000


@click.pass_context
def _history(ctx: click.Context, *, name: str) -> ExitStatus:
    output = output_of(ctx)
    with capabilities_to_read() as journal:
        newest = found_capability(journal, name)
        changes: Sequence[Capability] = [newest]
        log: Sequence[PermissionAuditLogEntry] = []
        if journal is not None:
            changes = CapabilityStore(journal).history(newest.capability_id)
            log = decisions_of(journal).get_audit_log(newest.capability_id)
    if output.json:
        body = {
            "capability": document_of(newest),
            "changes": [document_of(each) for each in changes],
            "decisions": [decision_document(each, newest.name) for each in log],
        }
        output.document("capability-history", body)
    else:
        output.text("\n".join(_lines(output, changes, log)))
    return ExitStatus.DONE


def _lines(
    output: Output, changes: Sequence[Capability], log: Sequence[PermissionAuditLogEntry]
) -> Iterator[str]:
    approved = [each for each in log if each.approved]
    before: Capability | None = None
    for each in changes:
        start = f"{each.updated_at.shown()}  "
        if before is None or each.version != before.version:
            version = output.paint(f"version {each.version}", "bold")
            yield f"{start}{version}, {each.language}, {_set_of(each)}"
            yield f"  code {each.code_hash}"
        else:
            yield from _changed(start, before, each, _row_of(approved, each))
        before = each


def _set_of(capability: Capability) -> str:
    if capability.permission_source is PermissionSource.MANUAL:
        return f"{capability.permission_set} by hand"
    return (
        f"{capability.permission_set} inferred with confidence "
        f"{capability.permission_confidence:.2f}"
    )


def _changed(
    start: str, before: Capability, after: Capability, row: PermissionAuditLogEntry | None
) -> Iterator[str]:
    step = f"{start}{before.permission_set} → {after.permission_set}"
    if row is None:
        yield step
        return
    yield f"{step}, {'by hand' if row.detected_operation == MANUAL else 'approved'}"
    yield from hanging("  by ", safe_line(row.approved_by or "nobody"))
    if row.reason:
        yield from hanging("  because ", safe_line(row.reason, limit=LONGEST_REASON))


def _row_of(
    approved: list[PermissionAuditLogEntry], change: Capability
) -> PermissionAuditLogEntry | None:
    """The row of the log that was written with a change; each is taken once."""
    for index, row in enumerate(approved):
        apart = abs(row.timestamp.unix_ms - change.updated_at.unix_ms)
        if row.to_set is change.permission_set and apart < _CLOSE_MS:
            return approved.pop(index)
    return None


history = PlainCommand(
    "history",
    PAGE,
    _history,
    [click.Argument(["name"], type=Text(), metavar="NAME", shell_complete=complete_capability)],
)
