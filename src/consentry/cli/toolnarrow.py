"""`consentry tool narrow`: the smaller manifest that a tool's last runs would have done with."""

import os
from collections.abc import Iterator

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.configoptions import configuration_options
from consentry.cli.hanging import hanging
from consentry.cli.output import Output, write_message
from consentry.cli.table import Page
from consentry.cli.toolnames import complete_tool
from consentry.service.ledgers import ledger_for_reading
from consentry.service.narrowing import USUAL_RUNS, Narrowing, narrow, write
from consentry.service.surroundings import look_around
from consentry.service.toolview import configuration_here

PAGE = Page(
    summary="Compare what a tool may do with what it did, and offer the smaller manifest.",
    paragraphs=(
        (
            "Prints the difference between the manifest and one without the powers that the last runs "
            "were not seen to use; it never adds any. Purposes, remarks and everything else stay as "
            "they are written."
        ),
        (
            "Runs that failed, and runs on engines that do not watch reads, are left out. What a run "
            "made and removed again is not in its record, and a rare need may not have come up: look "
            "at the difference before you write it. The next run is asked for anew."
        ),
    ),
    arguments=(("NAME", "Of the tool."),),
    examples=(
        ("consentry tool narrow build-latex", "shows the difference"),
        ("consentry tool narrow build-latex --runs 100", "looks further back"),
        ("consentry tool narrow build-latex --write", "and writes the smaller manifest"),
    ),
    statuses=(
        ("0", "compared; nothing to take out is an answer, too"),
        ("2", "wrong usage, no such tool, no run to compare with, or the file cannot be written"),
        ("3", "its manifest, or a document that it depends on, cannot be read"),
        ("4", "a plugin failed its integrity check, so nothing was written"),
        ("5", "the ledger cannot be read"),
        ("126", "the configuration or the state directory is not safe to use"),
    ),
    read_on=("docs/how-to/read-an-audit-report.md; docs/how-to/learn-a-manifest.md.",),
)


@click.pass_context
def _narrow(
    ctx: click.Context,
    *,
    name: str,
    runs: int,
    written: bool,
    workspace: str | None,
    config: str | None,
) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    place, effective = configuration_here(around, workspace, config)
    found = narrow(ledger_for_reading(around), effective.tool(name), around, runs)
    is_written = written and found.is_smaller
    if is_written:
        write(found, place)
    if output.json:
        output.document("tool-narrow", _document(found, is_written))
        return ExitStatus.DONE
    if found.is_smaller:
        output.text("\n".join(_painted(output, found)))
    if not output.quiet:
        write_message("\n".join(_told(found, is_written)))
    return ExitStatus.DONE


def _document(found: Narrowing, is_written: bool) -> dict[str, object]:  # noqa: FBT001 - told as such
    return {
        "name": found.tool.manifest.name,
        "file": str(found.tool.file),
        "runs": found.runs,
        "left_out": dict(found.left_out),
        "removed": list(found.result.removed),
        "diff": list(found.diff()) if found.is_smaller else [],
        "manifest": found.result.text,
        "written": is_written,
    }


def _painted(output: Output, found: Narrowing) -> Iterator[str]:
    """The difference; what the file holds is made safe behind its sign, which keeps its indent."""
    for line in found.diff():
        style = {"-": "red", "+": "green"}.get(line[:1])
        body = line[1:]
        indent = len(body) - len(body.lstrip(" "))
        shown = line[:1] + body[:indent] + safe_line(body[indent:])
        yield shown if style is None else output.paint(shown, style)


def _told(found: Narrowing, is_written: bool) -> Iterator[str]:  # noqa: FBT001 - as above
    runs = "1 run" if found.runs == 1 else f"{found.runs} runs"
    name = safe_line(found.tool.manifest.name)
    if not found.is_smaller:
        yield f"consentry: `{name}` used all it may in its last {runs}"
    else:
        yield f"consentry: not used by `{name}` in its last {runs}:"
        for each in found.result.removed:
            yield from hanging("  ", safe_line(each), indent=4)
    for reason, count in found.left_out.items():
        yield f"  left out: {count} that {reason}"
    if is_written:
        yield from hanging("  wrote ", safe_line(str(found.tool.file)), indent=4)
    elif found.is_smaller:
        yield "  reads and programs are observed, writes the kernel's word; --write takes it over"


narrow_ = PlainCommand(
    "narrow",
    PAGE,
    _narrow,
    [
        click.Option(
            ["--runs"],
            type=click.IntRange(min=1, max=10_000),
            default=USUAL_RUNS,
            metavar="N",
            help=f"How many of the last runs to look at; {USUAL_RUNS} unless given.",
        ),
        click.Option(
            ["--write", "written"], is_flag=True, help="Write the smaller manifest to its file."
        ),
        *configuration_options(),
        click.Argument(["name"], type=Text(), metavar="NAME", shell_complete=complete_tool),
    ],
)
