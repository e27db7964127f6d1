"""`consentry consent`: what was agreed to, and how it is taken back."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="List what was agreed to, and take it back.",
    paragraphs=(
        "A consent is a person's yes to one tool at one version and digest, with exact powers.",
        "Once it is taken back the next run asks again; `--kill` also ends a run that goes on.",
    ),
    examples=(
        ("consentry consent list", "what stands"),
        ("consentry consent revoke consent-0198c2f4-…", "take one back"),
    ),
    statuses=(
        ("0", "listed, shown or revoked"),
        ("2", "wrong usage, or no consent has that id"),
        ("5", "the ledger cannot be read or written"),
        ("126", "the state directory is not safe to use"),
    ),
    read_on=("docs/how-to/answer-requests.md.",),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow("list", "consentry.cli.consentlist:list_", "List the consents that stand"),
            CommandRow("show", "consentry.cli.consentlist:show", "Show one, with its powers"),
            CommandRow(
                "history", "consentry.cli.consenthistory:history", "What was asked in a session"
            ),
            CommandRow("revoke", "consentry.cli.consentrevoke:revoke", "Take consents back"),
        ),
    ),
)


@click.pass_context
def _consent(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


consent = LazyGroup("consent", SECTIONS, _consent, page=PAGE)
