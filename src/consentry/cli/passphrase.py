"""`consentry passphrase`: words that every yes needs besides the terminal it is typed at."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="Set or remove the passphrase that every yes needs.",
    paragraphs=(
        (
            "With it, a program that runs as you and drives this command with a terminal of its own "
            "answers nothing. It does not keep such a program from writing the state directory."
        ),
        "Once set it is asked for with every yes; `approvals.passphrase: true` demands that one is set.",
    ),
    examples=(
        ("consentry passphrase set", "set it, or another one"),
        ("consentry passphrase remove", "with the words themselves"),
    ),
    statuses=(
        ("0", "set, or removed"),
        ("2", "wrong usage"),
        ("126", "wrong words, too many tries, or no terminal"),
    ),
    read_on=("docs/how-to/answer-requests.md.",),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow("set", "consentry.cli.passphraseset:set_", "Set it, or another one"),
            CommandRow("remove", "consentry.cli.passphraseset:remove", "Remove it"),
        ),
    ),
)


@click.pass_context
def _passphrase(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


passphrase = LazyGroup("passphrase", SECTIONS, _passphrase, page=PAGE)
