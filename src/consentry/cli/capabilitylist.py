"""`consentry capability list`: what is saved, one on a line."""

import click

from consentry.base.codes import ExitStatus
from consentry.cli.capabilityplace import capabilities_to_read, saved_here
from consentry.cli.capabilitytext import document_of
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.decide.capabilities import CapabilityHead, determine_permission_set

PAGE = Page(
    summary="List the saved capabilities, by name.",
    paragraphs=(
        (
            "With the set each runs in. Where that is less than what is stored, the stored one "
            "stands behind it: it was inferred with too little confidence to open anything."
        ),
    ),
    examples=(
        ("consentry capability list", "name, version, language, set and since when"),
        ("consentry capability list --quiet", "the bare names, one on a line"),
        ("consentry capability list --json", "for a script, without the code"),
    ),
    statuses=(
        ("0", "listed; an empty list is an answer, too"),
        ("2", "wrong usage"),
        ("5", "the ledger cannot be read"),
        ("126", "the state directory is not safe to use"),
    ),
)

_HEADINGS = ("name", "version", "language", "runs in", "source", "confidence", "since")


@click.pass_context
def _list(ctx: click.Context) -> ExitStatus:
    output = output_of(ctx)
    with capabilities_to_read() as journal:
        saved = saved_here(journal)
    if output.json:
        output.document("capability-list", {"capabilities": [document_of(each) for each in saved]})
    elif output.quiet:
        if saved:
            output.text("\n".join(each.name for each in saved))
    elif not saved:
        output.text("nothing is saved; `consentry capability save NAME FILE` saves code")
    else:
        output.text("\n".join(_table(output, [_cells(each) for each in saved])))
    return ExitStatus.DONE


def _cells(capability: CapabilityHead) -> tuple[str, ...]:
    runs_in, stored = determine_permission_set(capability), capability.permission_set
    return (
        capability.name,
        str(capability.version),
        capability.language.value,
        runs_in.value if runs_in is stored else f"{runs_in} (not {stored})",
        capability.permission_source.value,
        f"{capability.permission_confidence:.2f}",
        capability.updated_at.shown(),
    )


def _table(output: Output, rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (_HEADINGS, *rows)
    ]
    return [output.paint(lines[0], "bold"), *lines[1:]]


list_ = PlainCommand("list", PAGE, _list)
