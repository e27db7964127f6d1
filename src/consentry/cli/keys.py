"""`consentry keys`: keys that sign plugins, and whose signatures are known."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="Make keys that sign plugins, and say whose keys you know.",
    paragraphs=(
        (
            "A known key allows nothing by itself: plugin-policy.yaml says whose signature which "
            "plugin needs. A signature shows that somebody had the private half of the key."
        ),
        "What is revoked here is revoked here: nobody else learns of it.",
    ),
    examples=(
        ("consentry keys make me --expires 365d", "a key of your own"),
        ("consentry keys show me --public > me.pub.json", "to hand to others"),
        ("consentry keys trust author.pub.json", "see its fingerprint, and accept it"),
    ),
    statuses=(
        ("0", "done"),
        ("2", "wrong usage, no such key, or a file that cannot be used"),
        ("3", "a key file or the key list cannot be read"),
        ("5", "the ledger cannot be written, so nothing was done"),
        ("126", "nobody said yes, or the key is revoked, expired or sealed"),
    ),
    read_on=("docs/how-to/sign-plugins.md; docs/explanation/signing.md.",),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow("make", "consentry.cli.keysmake:make", "Make a key that signs plugins"),
            CommandRow("list", "consentry.cli.keyslist:list_", "List the keys that are known"),
            CommandRow("show", "consentry.cli.keyslist:show", "Show one, or write its public half"),
            CommandRow("trust", "consentry.cli.keystrust:trust", "Accept somebody's public key"),
            CommandRow(
                "rotate",
                "consentry.cli.keysmake:rotate",
                "Make another key, endorsed by the old one",
            ),
            CommandRow(
                "revoke", "consentry.cli.keysrevoke:revoke", "Refuse all that a key has signed"
            ),
        ),
    ),
)


@click.pass_context
def _keys(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


keys = LazyGroup("keys", SECTIONS, _keys, page=PAGE)
