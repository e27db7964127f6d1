"""`consentry tool`: what tools there are, what each may do, and whether their documents are right."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="Write, list, show and check tools.",
    paragraphs=(
        "A tool is a program with a manifest: what it is for, and every power it asks for.",
        "A manifest asks and grants nothing; a person decides, run by run.",
    ),
    examples=(
        ("consentry tool new report -- ./report.sh", "writes .consentry/tools/report.yaml"),
        ("consentry tool lint", "is everything in order?"),
        ("consentry tool list", "the tools of this workspace, and your own"),
        ("consentry tool show report", "what it may do, and how it is asked for"),
    ),
    statuses=(
        ("0", "done"),
        ("1", "problems are listed"),
        ("2", "wrong usage, no such tool, or a file that cannot be used"),
        ("3", "a document that cannot be read"),
    ),
    read_on=("docs/reference/tool-manifest.md; docs/reference/documents.md.",),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow("new", "consentry.cli.toolnew:new", "Write a manifest to fill in"),
            CommandRow("list", "consentry.cli.toollist:list_", "List the tools here"),
            CommandRow("show", "consentry.cli.toolshow:show", "Show what a tool may do"),
            CommandRow(
                "narrow", "consentry.cli.toolnarrow:narrow_", "Take out what a tool did not use"
            ),
            CommandRow("lint", "consentry.cli.toollint:lint", "Check every document"),
        ),
    ),
)


@click.pass_context
def _tool(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


tool = LazyGroup("tool", SECTIONS, _tool, page=PAGE)
