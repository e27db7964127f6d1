"""`consentry capability`: code that is kept under a name, with the permission set it runs in."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="Save code under a name, and run it in the permission set it needs.",
    paragraphs=(
        (
            "The set is inferred from the code. Within it nothing is asked; where a run fails "
            "because the set is too small, you are asked once whether it may have a larger one."
        ),
        "`consentry escalations` lists what was decided; `consentry explain SET` says what a set opens.",
    ),
    examples=(
        ("consentry capability save word-count count.py", "save it, and see its set"),
        ("consentry capability run word-count --arg 'text=\"a b\"'", "prints its result as JSON"),
        ("consentry capability list", "what is saved"),
    ),
    statuses=(
        ("0", "saved, listed, shown or set; `run`: it gave a result"),
        ("2", "wrong usage, or nothing is saved under that name"),
        ("5", "the ledger cannot be read or written"),
        ("126", "the state directory is not safe to use, or a set that cannot be reached"),
        ("other", "`run` has statuses of its own: see its page"),
    ),
    read_on=("docs/how-to/save-and-run-capabilities.md.",),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow("save", "consentry.cli.capabilitysave:save", "Save code under a name"),
            CommandRow("list", "consentry.cli.capabilitylist:list_", "List what is saved"),
            CommandRow(
                "show", "consentry.cli.capabilityshow:show", "Show one, and the set it runs in"
            ),
            CommandRow("run", "consentry.cli.capabilityrun:run", "Run one, and print its result"),
            CommandRow(
                "history",
                "consentry.cli.capabilityhistory:history",
                "Its versions, and how its set changed",
            ),
            CommandRow("set", "consentry.cli.capabilityset:set_", "Give it another set by hand"),
        ),
    ),
)


@click.pass_context
def _capability(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


capability = LazyGroup("capability", SECTIONS, _capability, page=PAGE)
