"""`consentry plugins`: what plugins consist of, written down and held against what lies there."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="Write down what plugins consist of, and see whether they still do.",
    paragraphs=(
        (
            "PLUGINS.lock is an integrity check: it shows what changed without the lock being made "
            "anew. Whoever can commit both a plugin and its lock passes."
        ),
    ),
    examples=(
        ("consentry plugins lock", "write the lock of the plugins here"),
        ("consentry plugins verify", "hash them, and say what differs from the lock"),
    ),
    statuses=(
        ("0", "done, and everything is as the lock says"),
        ("1", "`lock --check`: the lock would change"),
        ("2", "wrong usage, or a folder that cannot be used"),
        ("3", "a lock, manifest or other document that cannot be read"),
        ("4", "a plugin is not what the lock says, or has in it what no plugin may have"),
    ),
    read_on=("docs/how-to/lock-plugins.md; docs/reference/plugins-lock.md.",),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow(
                "lock",
                "consentry.cli.pluginslock:lock",
                "Write the lock of the plugins in a folder",
            ),
            CommandRow(
                "verify",
                "consentry.cli.pluginsverify:verify",
                "Say which plugins are what the lock says",
            ),
            CommandRow(
                "list", "consentry.cli.pluginslist:list_", "List plugins, with version and state"
            ),
            CommandRow(
                "sign", "consentry.cli.pluginssign:sign", "Sign a plugin with a key of yours"
            ),
            CommandRow(
                "forget",
                "consentry.cli.pluginsforget:forget",
                "Let an older or less signed version come in again",
            ),
            CommandRow(
                "init",
                "consentry.cli.pluginsinit:init",
                "Have changes of the lock looked at by people",
            ),
        ),
    ),
)


@click.pass_context
def _plugins(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


plugins = LazyGroup("plugins", SECTIONS, _plugins, page=PAGE)
