"""`consentry session`: what "for this session" refers to."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="List sessions, and end one.",
    paragraphs=(
        "What is allowed for a session is allowed until it is over.",
        "A terminal has one for each log-in: over with it, after 12 hours, or when ended here.",
    ),
    examples=(
        ("consentry session list", "those that go on"),
        ("consentry session end", "the one of this terminal"),
    ),
    statuses=(
        ("0", "listed, or over"),
        ("2", "wrong usage, or no session has that id"),
        ("5", "the ledger cannot be read or written"),
        ("126", "the state directory is not safe to use"),
    ),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow("list", "consentry.cli.sessionlist:list_", "List the sessions that go on"),
            CommandRow("end", "consentry.cli.sessionend:end", "End a session, or this one"),
        ),
    ),
)


@click.pass_context
def _session(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


session = LazyGroup("session", SECTIONS, _session, page=PAGE)
