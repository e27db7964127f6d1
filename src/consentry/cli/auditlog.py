"""`consentry audit log`: events, filtered, one on a line; with `--follow`, also those to come."""

import os
from collections.abc import Mapping
from functools import partial

import click

from consentry.base.clock import Instant, SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of, usage_problem
from consentry.cli.eventoptions import event_options
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.record.transactionsaid import said_of
from consentry.service.audit import LogRequest, latest_of
from consentry.service.ledgers import ledger_for_reading
from consentry.service.surroundings import look_around

DEFAULT_COUNT = 50
MOST_COUNT = 1_000_000
_MOST_SAID = 160

PAGE = Page(
    summary="List events, the latest last.",
    paragraphs=(
        "Times are shown in local time; in JSON they are as stored, in UTC.",
        "With --follow it goes on until Ctrl-C, and --json writes one document on each line.",
    ),
    examples=(
        ("consentry audit log", f"the latest {DEFAULT_COUNT}"),
        ("consentry audit log --subject tool:build --since 7d", "one subject, a week back"),
        ("consentry audit log --decision denied --last 500", "refusals only"),
        ("consentry audit log --follow", "and every new one, from any process or machine"),
        ("consentry audit log --quiet", "the bare ids, one on a line"),
        ("consentry audit log --json", "whole events, for a script"),
    ),
    statuses=(
        ("0", "listed; an empty list is an answer, too"),
        ("2", "wrong usage"),
        ("5", "the ledger cannot be read"),
        ("126", "the state directory is not safe to use"),
        ("130", "`--follow` was interrupted, which is how it ends"),
    ),
)


@click.pass_context
def _log(ctx: click.Context, /, *, last: int, follow: bool, **wanted: str | None) -> ExitStatus:
    output = output_of(ctx)
    request = LogRequest.asked_for(SystemClock(), **wanted)
    around = look_around(os.environ)
    if not follow:
        ledger = ledger_for_reading(around)
        _list(output, None if ledger is None else latest_of(ledger, request, last))
        return ExitStatus.DONE
    if wanted["until"] is not None:
        raise usage_problem("`--follow` and `--until` contradict each other", "leave one out")
    from consentry.cli import auditfollow  # noqa: PLC0415 - a plain list does not pay for it
    from consentry.service.following import Following  # noqa: PLC0415 - as above

    following = Following(partial(ledger_for_reading, around), request)
    return auditfollow.follow(following, last, output, partial(_line, output))


def _list(output: Output, events: list[Mapping[str, object]] | None) -> None:
    if output.json:
        output.document("audit-log", {"events": events or []})
    elif events:
        output.text("\n".join(_line(output, event) for event in events))
    elif not output.quiet:
        output.text("nothing was recorded here yet" if events is None else "no event fits")


def _line(output: Output, event: Mapping[str, object]) -> str:
    event_id = safe_line(str(event["eventId"]))
    if output.quiet:
        return event_id
    when = Instant.parse(str(event["timestampUtc"])).shown()
    kind = output.paint(safe_line(str(event["type"])), "bold")
    said = said_of(event["type"], event["payload"])
    told = "" if said is None else f"{safe_line(said, limit=_MOST_SAID)}  "
    return f"{when}  {kind}  {safe_line(str(event['subject']))}  {told}{event_id}"


log = PlainCommand(
    "log",
    PAGE,
    _log,
    [
        click.Option(
            ["--last"],
            type=click.IntRange(1, MOST_COUNT),
            default=DEFAULT_COUNT,
            metavar="N",
            help=f"At most so many of the latest; {DEFAULT_COUNT} unless given.",
        ),
        click.Option(
            ["--follow"],
            is_flag=True,
            help="Go on with what is recorded from now on, until interrupted.",
        ),
        *event_options(),
    ],
)
