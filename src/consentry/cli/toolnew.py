"""`consentry tool new`: a manifest to fill in."""

import os

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.configoptions import workspace_option
from consentry.cli.table import Page
from consentry.declare.starters import Place
from consentry.service.newtool import write_new_tool
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Write the manifest of a new tool, to be filled in.",
    paragraphs=(
        (
            "It asks for nothing yet, so a run can read nothing of the workspace: add what it needs, "
            "or let `consentry learn` watch it once."
        ),
    ),
    arguments=(
        ("NAME", "Of the tool; a to z, digits, `.`, `-` and `_`."),
        ("COMMAND", "What a run starts, behind `--`; the program NAME unless given."),
    ),
    examples=(
        ("consentry tool new report -- ./report.sh --all", "in this workspace"),
        ("consentry tool new pandoc --own", "in your own configuration, for every workspace"),
    ),
    statuses=(
        ("0", "written"),
        ("2", "wrong usage, or a file of that name is there already"),
    ),
    read_on=("docs/reference/tool-manifest.md; docs/how-to/learn-a-manifest.md.",),
)


@click.pass_context
def _new(
    ctx: click.Context, *, name: str, command: tuple[str, ...], own: bool, workspace: str | None
) -> ExitStatus:
    output = output_of(ctx)
    place = Place.OWN if own else Place.WORKSPACE
    file, needs_index = write_new_tool(
        look_around(os.environ), name, command, place, workspace_named=workspace
    )
    if output.json:
        body = {"name": name, "file": str(file), "must_be_indexed": needs_index}
        output.document("tool-new", body)
    elif output.quiet:
        output.text(safe_line(str(file)))
    else:
        lines = [f"wrote {safe_line(str(file))}; fill in what it is for and what it needs"]
        if needs_index:
            lines.append("the index tool-manifest.yaml does not name it yet: add it there")
        output.text("\n".join(lines))
    return ExitStatus.DONE


new = PlainCommand(
    "new",
    PAGE,
    _new,
    [
        click.Option(["--own"], is_flag=True, help="In your own configuration."),
        workspace_option(),
        click.Argument(["name"], type=Text(), metavar="NAME"),
        click.Argument(["command"], nargs=-1, type=Text(), metavar="[-- COMMAND...]"),
    ],
)
