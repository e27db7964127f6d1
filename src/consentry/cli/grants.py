"""`consentry grants`: what modules were granted, taking it back, and why something is allowed or not."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="List what modules were granted, take it back, and tell why it is so.",
    paragraphs=(
        (
            "A grant is a person's yes for one capability of one content of one module in one host. "
            "It is given by answering a module's question: `consentry approve ID --session`."
        ),
    ),
    examples=(
        ("consentry grants list", "those that hold"),
        ("consentry grants explain word-count state.read", "why it may use that, or may not"),
        ("consentry grants revoke --module word-count", "take back all that one was granted"),
    ),
    statuses=(
        ("0", "listed, revoked or explained"),
        ("2", "wrong usage, or no such grant, module, host or event"),
        ("5", "the ledger cannot be read or written"),
        ("126", "the state directory is not safe to use"),
    ),
    read_on=("docs/how-to/answer-a-module.md; docs/how-to/handle-a-refused-module.md.",),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow("list", "consentry.cli.grantlist:list_", "List the grants that hold"),
            CommandRow("revoke", "consentry.cli.grantrevoke:revoke", "Take grants back"),
            CommandRow(
                "explain",
                "consentry.cli.grantexplain:explain",
                "Tell why a module may use something, or may not",
            ),
        ),
    ),
)


@click.pass_context
def _grants(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


grants = LazyGroup("grants", SECTIONS, _grants, page=PAGE)
