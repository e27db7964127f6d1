"""`consentry tx`: transactions, from the preview of a change to its roll-back."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="Look at changes of documents before they land, decide, apply them, and take them back.",
    paragraphs=(
        (
            "A transaction is previewed, approved, applied whole or not at all, and can be rolled back. "
            "A yes is for one preview of one revision, and for a time."
        ),
        (
            "What is applied and taken back by command is what lies in the store of the ledger. Where "
            "an application keeps its documents itself, it has to do that."
        ),
    ),
    examples=(
        ("consentry tx list", "what waits, and for whom"),
        ("consentry tx show 0198c2f4-71", "where one stands, and what it would change"),
        ("consentry tx approve 0198c2f4-71 --apply", "look at it, say yes, and have it applied"),
        ("consentry tx rollback 0198c2f4-71", "take it back"),
    ),
    statuses=(
        ("0", "done"),
        ("2", "wrong usage, or no transaction has that id"),
        ("5", "the ledger cannot be read or written, or what it holds cannot be believed"),
        ("75", "it waits for an answer, or it is not known yet what became of it"),
        ("126", "refused, denied, in conflict or blocked"),
    ),
    read_on=("docs/how-to/decide-about-changes.md.",),
)

SECTIONS = (
    CommandSection(
        "Look",
        (
            CommandRow("list", "consentry.cli.txlist:list_", "List what waits, the newest first"),
            CommandRow("show", "consentry.cli.txshow:show", "Show one: where it stands, its diff"),
        ),
    ),
    CommandSection(
        "Decide",
        (
            CommandRow(
                "approve",
                "consentry.cli.txapprove:approve",
                "Say yes to a preview, at this terminal",
            ),
            CommandRow("reject", "consentry.cli.txreject:reject", "End one without an effect"),
        ),
    ),
    CommandSection(
        "Carry out",
        (
            CommandRow("apply", "consentry.cli.txapply:apply", "Apply one that was approved"),
            CommandRow("rollback", "consentry.cli.txrollback:rollback", "Take an applied one back"),
            CommandRow(
                "resolve",
                "consentry.cli.txresolve:resolve",
                "Free a document that one blocks, after you looked",
            ),
        ),
    ),
)


@click.pass_context
def _tx(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


tx = LazyGroup("tx", SECTIONS, _tx, page=PAGE)
