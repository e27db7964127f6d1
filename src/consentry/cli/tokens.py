"""`consentry tokens`: which capability tokens were minted, and what was done with them."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="List capability tokens, their uses and what is left of a budget.",
    paragraphs=(
        "A program mints tokens with `consentry.mint`; a person needs none, and no command makes one.",
    ),
    examples=(
        ("consentry tokens list", "all that were minted"),
        ("consentry tokens show token-0198c2f4-…", "one, with every use of it"),
    ),
    statuses=(
        ("0", "listed or shown"),
        ("2", "wrong usage, or no token has that id"),
        ("5", "the ledger cannot be read"),
        ("126", "the state directory is not safe to use"),
    ),
    read_on=("docs/how-to/use-capability-tokens.md; docs/explanation/capability-tokens.md.",),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow("list", "consentry.cli.tokenlist:list_", "List the tokens that were minted"),
            CommandRow("show", "consentry.cli.tokenlist:show", "Show one, its uses and its budget"),
        ),
    ),
)


@click.pass_context
def _tokens(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


tokens = LazyGroup("tokens", SECTIONS, _tokens, page=PAGE)
