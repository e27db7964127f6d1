"""`consentry tool list`: the tools that there are here, one on a line."""

import os
from collections.abc import Iterator

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.configoptions import configuration_options
from consentry.cli.hanging import LONGEST, hanging
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.service.surroundings import look_around
from consentry.service.toolview import ToolRow, configuration_here, list_tools, row_document, whose

PAGE = Page(
    summary="List the tools here: your own, and this workspace's.",
    paragraphs=(
        "With the level that each has, which is the strictest that anything says about it.",
        "A tool that cannot be read or is denied is listed, with the reason.",
    ),
    examples=(
        ("consentry tool list", "name, level, risk and description"),
        ("consentry tool list --verbose", "and where each manifest lies"),
        ("consentry tool list --quiet", "the bare names"),
    ),
    statuses=(
        ("0", "listed; an empty list is an answer, too"),
        ("1", "listed, and a tool among them cannot be read"),
        ("2", "wrong usage, or a named folder that cannot be used"),
        ("3", "a document that every tool depends on cannot be read"),
        ("4", "a plugin failed its integrity check, so nothing is listed"),
        ("5", "the ledger cannot be read"),
        ("126", "the configuration or the state directory is not safe to use"),
    ),
)
_LEVEL = 8


@click.pass_context
def _list(ctx: click.Context, *, workspace: str | None, config: str | None) -> ExitStatus:
    output = output_of(ctx)
    _, effective = configuration_here(look_around(os.environ), workspace, config)
    rows = list_tools(effective)
    if output.json:
        output.document("tool-list", {"tools": [row_document(row) for row in rows]})
    elif output.quiet:
        if rows:
            output.text("\n".join(row.name for row in rows))
    elif not rows:
        output.text("there are no tools here; `consentry tool new NAME` begins one")
    else:
        widest = max(len(row.name) for row in rows)
        output.text("\n".join(line for row in rows for line in _lines(output, row, widest)))
    return ExitStatus.FOUND if any(row.tool is None for row in rows) else ExitStatus.DONE


def _lines(output: Output, row: ToolRow, widest: int) -> Iterator[str]:
    word, style = ("denied", "red") if row.level is None else (row.level.level.value, "bold")
    if row.tool is None:
        word = "broken"
    start = f"{row.name:<{widest}}  {output.paint(f'{word:<{_LEVEL}}', style)}  "
    width = widest + _LEVEL + 4
    if row.tool is None:
        said = "" if row.problem is None else str(row.problem).partition("\n")[0]
    else:
        said = row.tool.manifest.description
    yield from hanging(start, safe_line(said, limit=LONGEST), width_of_start=width)
    if output.verbose and row.tool is not None:
        about = f"risk {row.tool.manifest.risk}, {whose(row.tool)}: {row.tool.file}"
        yield from hanging("  ", safe_line(about))
        for reason in () if row.level is None else row.level.reasons:
            yield from hanging("  ", safe_line(reason))


list_ = PlainCommand("list", PAGE, _list, configuration_options())
