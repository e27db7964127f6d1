"""`consentry report`: what the audit entries of a period add up to, as text, JSON or a page."""

import json
import os
from collections.abc import Iterator
from pathlib import PurePath

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import File, OneOf, PlainCommand, Text, output_of
from consentry.cli.output import Output, json_text, write_message, write_pieces
from consentry.cli.table import Page
from consentry.record.report import Report
from consentry.service.ledgers import ledger_for_reading
from consentry.service.reports import USUAL_SPAN, ReportSource, asked_period
from consentry.service.surroundings import look_around
from consentry.service.userfiles import new_file

TEXT, JSON, HTML = "text", "json", "html"

PAGE = Page(
    summary="Report what ran over a period, what was decided, refused, granted and used.",
    paragraphs=(
        (
            "The ledger is verified first. The page is one file with charts, without scripts and "
            "without anything from elsewhere; it and the JSON document list every entry whose tool "
            "says `includeInReport: true`."
        ),
        "Entries older than their tool's `retainLogs` are left out and counted; archives are not read.",
    ),
    examples=(
        ("consentry report", "the last 30 days, on this terminal"),
        ("consentry report --since 7d --out week.html", "a page to keep or pass on"),
        ("consentry report --tool build-latex --format json", "for a script"),
    ),
    statuses=(
        ("0", "reported; no run is an answer, too"),
        ("2", "wrong usage, or the file cannot be made or written"),
        ("5", "the ledger cannot be read, or does not verify"),
        ("126", "the state directory is not safe to use"),
    ),
    read_on=("docs/how-to/read-an-audit-report.md.",),
)


@click.pass_context
def _report(
    ctx: click.Context,
    /,
    *,
    since: str | None,
    start: str | None,
    end: str | None,
    tool: str | None,
    told: str | None,
    out: str | None,
) -> ExitStatus:
    output = output_of(ctx)
    period = asked_period(SystemClock(), since, start, end, tool)
    form = told or _form_of(out, output)
    source = ReportSource(ledger_for_reading(look_around(os.environ)), period)
    report = source.counted()
    pieces = _pieces(form, source, report, output)
    if out is None:
        write_pieces(each.encode() for each in pieces)
        if source.history is None and form == TEXT and not output.quiet:
            write_message("nothing was recorded here yet")
        return ExitStatus.DONE
    with new_file(out) as file:
        file.writelines(each.encode() for each in pieces)
    if output.json:
        body = {"file": out, "format": form, "runs": report.runs, "listed": report.listed}
        output.document("report-file", body)
    elif not output.quiet:
        output.text(
            f"{report.runs} runs reported in {safe_line(out)}, {report.listed} of them listed"
        )
    return ExitStatus.DONE


def _form_of(out: str | None, output: Output) -> str:
    """By the ending of the file; on standard output, JSON where everything is to be that."""
    if out is None:
        return JSON if output.json else TEXT
    return {".html": HTML, ".htm": HTML, ".json": JSON}.get(PurePath(out).suffix, TEXT)


def _pieces(form: str, source: ReportSource, report: Report, output: Output) -> Iterator[str]:
    if form == TEXT:
        from consentry.cli.reporttext import report_text  # noqa: PLC0415 - one of three is needed

        yield report_text(report, output) + "\n"
    elif form == HTML:
        from consentry.record.reporthtml import report_page  # noqa: PLC0415 - as above

        yield from report_page(report, source.heads, source.listed())
    else:
        yield from _json(source, report)


def _json(source: ReportSource, report: Report) -> Iterator[str]:
    """One document whose last key is written entry by entry."""
    from consentry.record.reportdocument import report_document  # noqa: PLC0415 - as above

    head = json_text("report", report_document(report, source.heads))
    yield head.rstrip().removesuffix("}").rstrip() + ',\n  "entries": ['
    before = "\n"
    for entry in source.listed():
        yield f"{before}    {json.dumps(entry, ensure_ascii=True)}"
        before = ",\n"
    yield "\n  ]\n}\n"


report = PlainCommand(
    "report",
    PAGE,
    _report,
    [
        click.Option(
            ["--since"],
            type=Text(),
            metavar="SPAN",
            help=f"From so long ago ({USUAL_SPAN} unless given), or from this time on.",
        ),
        click.Option(["--from", "start"], type=Text(), metavar="TIME", help="From this time on."),
        click.Option(
            ["--to", "end"],
            type=Text(),
            metavar="TIME",
            help="Up to this time, itself not included.",
        ),
        click.Option(
            ["--tool"], type=Text(), metavar="NAME", help="Only runs of the tool with this name."
        ),
        click.Option(
            ["--format", "told"],
            type=OneOf((TEXT, JSON, HTML)),
            metavar="FORMAT",
            help="text, json or html; by the ending of --out unless given.",
        ),
        click.Option(
            ["--out"], type=File(), metavar="FILE", help="Write to this new file instead."
        ),
    ],
)
