"""`consentry wish`: what a change may bring, written down before it comes."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="Write the wish that allows what today's code does, and check one.",
    paragraphs=("A wish says which powers a change may bring; `consentry guard` judges by it.",),
    examples=(
        ("consentry wish init --out wish.yaml", "from the code in this folder"),
        ("consentry wish check wish.yaml", "what it allows, in words"),
    ),
    statuses=(
        ("0", "written, or in order"),
        ("2", "wrong usage, or a file that cannot be found, read or made"),
        ("3", "a wish that is malformed"),
    ),
    read_on=("docs/how-to/write-a-wish.md; docs/reference/wish.md.",),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow(
                "init", "consentry.cli.wishinit:init", "Write a wish from what code does today"
            ),
            CommandRow(
                "check", "consentry.cli.wishcheck:check", "Read a wish, and say what it allows"
            ),
        ),
    ),
)


@click.pass_context
def _wish(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


wish = LazyGroup("wish", SECTIONS, _wish, page=PAGE)
