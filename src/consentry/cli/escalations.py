"""`consentry escalations`: what was decided about larger permission sets, the newest first."""

from collections.abc import Iterable, Mapping
from typing import Any

import click

from consentry.base.clock import Instant, SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.cli.auditlog import DEFAULT_COUNT, MOST_COUNT
from consentry.cli.capabilityplace import (
    capabilities_to_read,
    complete_capability,
    decisions_of,
    found_capability,
    names_here,
)
from consentry.cli.command import PlainCommand, Text, output_of, usage_problem
from consentry.cli.escalationtext import (
    decision_document,
    decision_lines,
    refusal_document,
    refusal_lines,
)
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.decide.permissionaudit import PermissionAuditLogEntry
from consentry.record.events import EventType
from consentry.service.audit import LogRequest, events_of, point_in_time
from consentry.store.journal import Journal

PAGE = Page(
    summary="List what was decided about larger permission sets, the newest first.",
    paragraphs=(
        (
            "Every question that code asked and how it ended, a deadline that passed included, and "
            "every set that was given by hand."
        ),
        (
            "What is never opened (other programs, native code, protected roots) is refused without "
            "a question; --refused lists that instead."
        ),
    ),
    arguments=(("NAME", "Only of this capability: its name, its id, or the id of a task."),),
    examples=(
        ("consentry escalations", f"the newest {DEFAULT_COUNT}"),
        ("consentry escalations weather --rejected", "what was denied to one"),
        ("consentry escalations --since 7d --json", "a week, for a script"),
        ("consentry escalations --refused", "what nobody was asked about"),
    ),
    statuses=(
        ("0", "listed; an empty list is an answer, too"),
        ("2", "wrong usage, or nothing has that name or id"),
        ("5", "the ledger cannot be read"),
        ("126", "the state directory is not safe to use"),
    ),
    read_on=("docs/how-to/save-and-run-capabilities.md.",),
)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which decisions are asked for."""

    capability_id: str | None
    approved: bool | None
    since: Instant | None
    until: Instant | None
    limit: int


@click.pass_context
def _escalations(
    ctx: click.Context,
    *,
    name: str | None,
    approved: bool,
    rejected: bool,
    refused: bool,
    since: str | None,
    until: str | None,
    limit: int,
) -> ExitStatus:
    output = output_of(ctx)
    if sum((approved, rejected, refused)) > 1:
        raise usage_problem(
            "`--approved`, `--rejected` and `--refused` exclude each other", "leave one of them"
        )
    clock = SystemClock()
    start = None if since is None else point_in_time(since, clock)
    end = None if until is None else point_in_time(until, clock)
    with capabilities_to_read() as journal:
        names = names_here(journal)
        meant = None if name is None else _meant(journal, name)
        which = None if approved == rejected else approved
        wanted = _Wanted(meant, which, start, end, limit)
        if refused:
            _tell_refusals(output, _refusals(journal, wanted), names)
        else:
            _tell(output, _decisions(journal, wanted), names)
    return ExitStatus.DONE


def _meant(journal: Journal | None, named: str) -> str:
    """The id that decisions are kept under: a capability's, or else the one that was typed."""
    try:
        return found_capability(journal, named).capability_id
    except UsageProblem:
        # Code tasks are no saved capabilities; the log knows their ids.
        if journal is None or not _is_known(journal, named):
            raise
        return named


def _is_known(journal: Journal, task: str) -> bool:
    everything = _Wanted(task, None, None, None, 1)
    return bool(_decisions(journal, everything) or _refusals(journal, everything))


def _decisions(journal: Journal | None, wanted: _Wanted) -> list[PermissionAuditLogEntry]:
    if journal is None:
        return []
    # The log takes both ends in, and `--until` is the first moment that is left out.
    log = decisions_of(journal).get_audit_log(
        wanted.capability_id,
        approved=wanted.approved,
        since=wanted.since,
        until=None if wanted.until is None else Instant(wanted.until.unix_ms - 1),
        limit=wanted.limit,
    )
    return list(reversed(log))


def _refusals(journal: Journal | None, wanted: _Wanted) -> list[Mapping[str, Any]]:
    """Read from the ledger itself: there is no table of them."""
    if journal is None:
        return []
    request = LogRequest.asked_for(
        journal.clock,
        type=EventType.PERMISSION_ESCALATION_REFUSED.value,
        since=None if wanted.since is None else str(wanted.since),
        until=None if wanted.until is None else str(wanted.until),
    )
    events: Iterable[Mapping[str, Any]] = events_of(journal.ledger.history, request)
    found = [
        event
        for event in events
        if wanted.capability_id in (None, event["payload"]["capabilityId"])
    ]
    return found[: -wanted.limit - 1 : -1]


def _tell(output: Output, rows: list[PermissionAuditLogEntry], names: Mapping[str, str]) -> None:
    if output.json:
        listed = [decision_document(each, names.get(each.capability_id)) for each in rows]
        output.document("escalations", {"decisions": listed})
    elif output.quiet:
        if rows:
            output.text("\n".join(each.id for each in rows))
    else:
        lines = [
            line
            for each in rows
            for line in decision_lines(output, each, names.get(each.capability_id))
        ]
        output.text("\n".join(lines) or "nothing was decided")


def _tell_refusals(
    output: Output, events: list[Mapping[str, Any]], names: Mapping[str, str]
) -> None:
    named = [(event, names.get(event["payload"]["capabilityId"])) for event in events]
    if output.json:
        refusals = [refusal_document(event, name) for event, name in named]
        output.document("escalations", {"refusals": refusals})
    elif output.quiet:
        if events:
            output.text("\n".join(str(event["eventId"]) for event in events))
    else:
        lines = [line for event, name in named for line in refusal_lines(output, event, name)]
        output.text("\n".join(lines) or "nothing was refused")


escalations = PlainCommand(
    "escalations",
    PAGE,
    _escalations,
    [
        click.Option(["--approved"], is_flag=True, help="Only what was approved or set by hand."),
        click.Option(["--rejected"], is_flag=True, help="Only what was denied or ran out."),
        click.Option(
            ["--refused"], is_flag=True, help="Instead, what was refused without a question."
        ),
        click.Option(
            ["--since"],
            type=Text(),
            metavar="TIME",
            help="From this time on: 2026-01-31T09:30:00Z, or 1day for so long ago.",
        ),
        click.Option(
            ["--until"],
            type=Text(),
            metavar="TIME",
            help="Up to this time, itself not included.",
        ),
        click.Option(
            ["--limit"],
            type=click.IntRange(1, MOST_COUNT),
            default=DEFAULT_COUNT,
            metavar="N",
            help=f"At most so many of the newest; {DEFAULT_COUNT} unless given.",
        ),
        click.Argument(
            ["name"],
            required=False,
            type=Text(),
            metavar="[NAME]",
            shell_complete=complete_capability,
        ),
    ],
)
