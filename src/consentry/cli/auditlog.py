"""`consentry audit log`: events, filtered, one on a line."""

import os
from collections import deque
from collections.abc import Iterable, Mapping

import click

from consentry.base.clock import Instant, SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.eventoptions import event_options
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.service.audit import LogRequest, events_of
from consentry.service.ledgers import ledger_for_reading
from consentry.service.surroundings import look_around

DEFAULT_COUNT = 50

PAGE = Page(
    summary="List events, the latest last.",
    paragraphs=("Times are shown in local time; in JSON they are as stored, in UTC.",),
    examples=(
        ("consentry audit log", f"the latest {DEFAULT_COUNT}"),
        ("consentry audit log --subject tool:build --since 7d", "one subject, a week back"),
        ("consentry audit log --decision denied --last 500", "refusals only"),
        ("consentry audit log --quiet", "the bare ids, one on a line"),
        ("consentry audit log --json", "whole events, for a script"),
    ),
    statuses=(
        ("0", "listed; an empty list is an answer, too"),
        ("2", "wrong usage"),
        ("5", "the ledger cannot be read"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _log(ctx: click.Context, /, *, last: int, **wanted: str | None) -> ExitStatus:
    output = output_of(ctx)
    request = LogRequest.asked_for(SystemClock(), **wanted)
    ledger = ledger_for_reading(look_around(os.environ))
    found: Iterable[Mapping[str, object]] = ()
    if ledger is not None:
        found = events_of(ledger, request)
    # Oldest first out of the store, and only the end of it is kept.
    events = deque(found, maxlen=last)
    if output.json:
        output.document("audit-log", {"events": list(events)})
    elif output.quiet:
        if events:
            output.text("\n".join(safe_line(str(event["eventId"])) for event in events))
    elif ledger is None:
        output.text("nothing was recorded here yet")
    elif not events:
        output.text("no event fits")
    else:
        output.text("\n".join(_line(output, event) for event in events))
    return ExitStatus.DONE


def _line(output: Output, event: Mapping[str, object]) -> str:
    at = Instant.parse(str(event["timestampUtc"])).as_datetime().astimezone()
    when = at.isoformat(sep=" ", timespec="seconds")
    kind = output.paint(safe_line(str(event["type"])), "bold")
    return f"{when}  {kind}  {safe_line(str(event['subject']))}  {safe_line(str(event['eventId']))}"


log = PlainCommand(
    "log",
    PAGE,
    _log,
    [
        click.Option(
            ["--last"],
            type=click.IntRange(min=1),
            default=DEFAULT_COUNT,
            metavar="N",
            help=f"At most so many of the latest; {DEFAULT_COUNT} unless given.",
        ),
        *event_options(),
    ],
)
