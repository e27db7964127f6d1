"""`consentry audit export`: events for other programs to read, one on a line."""

import os
import re
import sys
from collections.abc import Iterable, Iterator

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import File, OneOf, PlainCommand, output_of, usage_problem
from consentry.cli.eventoptions import event_options
from consentry.cli.output import Output, write_message, write_pieces
from consentry.cli.table import Page
from consentry.service.audit import LogRequest
from consentry.service.exports import Export, ExportFormat
from consentry.service.ledgers import ledger_for_reading
from consentry.service.surroundings import look_around
from consentry.service.userfiles import new_file

PAGE = Page(
    summary="Write events for other programs to read, one on a line.",
    paragraphs=(
        "jsonl is each event as recorded, with its hash; ocsf is OCSF 1.8.0 inside CloudEvents.",
        "--redacted hides names, words and home folders; such an export cannot be verified.",
        "Archived events are in their archives, and not here.",
    ),
    examples=(
        ("consentry audit export --out events.jsonl", "everything, into a new file"),
        ("consentry audit export --since 1day --format ocsf", "the last day, for a SIEM"),
        ("consentry audit export --redacted --out shared.jsonl", "to be passed on"),
        ("consentry audit export --decision denied | wc -l", "how many refusals"),
    ),
    statuses=(
        ("0", "exported; no event is an answer, too"),
        ("2", "wrong usage, or the file cannot be made or written"),
        ("5", "the ledger cannot be read; a file begun is removed"),
        ("126", "the state directory is not safe to use"),
    ),
)

_NOT_PLAIN = re.compile(r"[^\x20-\x7e\n]")


@click.pass_context
def _export(
    ctx: click.Context,
    /,
    *,
    told: str,
    redacted: bool,
    out: str | None,
    **wanted: str | None,
) -> ExitStatus:
    output = output_of(ctx)
    if output.json and out is None:
        raise usage_problem(
            "`--json` goes with `--out`: the export itself is many documents",
            "name a new file for the events with `--out`, or leave `--json` out",
        )
    request = LogRequest.asked_for(SystemClock(), **wanted)
    around = look_around(os.environ)
    history = ledger_for_reading(around)
    export = Export(history, request, ExportFormat(told), redact=redacted)
    if out is None:
        on_terminal = sys.stdout is not None and sys.stdout.isatty()
        lines = export.lines(around)
        write_pieces(_harmless(lines) if on_terminal else lines)
        if history is None and not output.quiet:
            write_message("nothing was recorded here yet")
        return ExitStatus.DONE
    with new_file(out) as file:
        file.writelines(export.lines(around))
    if output.json:
        body = {"file": out, "events": export.events, "format": told, "redacted": redacted}
        output.document("audit-export", body)
    elif not output.quiet:
        _say(output, export.events, out, redacted=redacted)
    return ExitStatus.DONE


def _say(output: Output, events: int, out: str, *, redacted: bool) -> None:
    count = "1 event" if events == 1 else f"{events} events"
    output.text(f"{count} written to {safe_line(out)}{', redacted' if redacted else ''}")


def _harmless(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The same JSON in ASCII, so that nothing in it can act on a terminal."""
    for line in lines:
        yield _NOT_PLAIN.sub(_escaped, line.decode()).encode("ascii")


def _escaped(letter: re.Match[str]) -> str:
    # What is not plain stands inside a text of the JSON, where such an escape means the same.
    units = letter[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


export = PlainCommand(
    "export",
    PAGE,
    _export,
    [
        click.Option(
            ["--format", "told"],
            type=OneOf([each.value for each in ExportFormat]),
            default=ExportFormat.JSONL.value,
            metavar="FORMAT",
            help="jsonl (unless given) or ocsf.",
        ),
        click.Option(
            ["--redacted"],
            is_flag=True,
            help="Hide names, words, arguments and home folders; cannot be verified.",
        ),
        click.Option(
            ["--out"], type=File(), metavar="FILE", help="Write to this new file instead."
        ),
        *event_options(),
    ],
)
