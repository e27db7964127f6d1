"""`consentry audit`: what the ledger holds."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="List, show, verify, prove, export, copy and archive the events of the ledger.",
    paragraphs=(
        "The ledger is one append-only history; each event carries the hash of the one before it.",
        "Commands that change something record it; so does a program that uses the library.",
    ),
    examples=(
        ("consentry audit log", "the latest events"),
        ("consentry audit log --follow", "and each new one as it is recorded"),
        ("consentry audit verify", "whether every chain is whole"),
        ("consentry audit checkpoint --out today.json", "to be kept elsewhere"),
        ("consentry audit verify --checkpoint today.json", "nothing was cut off since"),
    ),
    statuses=(
        ("0", "answered; every chain is whole"),
        ("2", "wrong usage, no event has that id, or a file cannot be read or made"),
        ("3", "a checkpoint, proof or archive that is not one, or does not hold"),
        ("5", "the ledger cannot be read, or an event was changed, dropped, repeated or moved"),
        ("126", "the state directory is not safe to use"),
    ),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow("log", "consentry.cli.auditlog:log", "List events, the latest last"),
            CommandRow("show", "consentry.cli.auditshow:show", "Show one event, whole"),
            CommandRow(
                "checkpoint",
                "consentry.cli.auditcheckpoint:checkpoint",
                "Sign where every chain ends now",
            ),
            CommandRow(
                "verify", "consentry.cli.auditverify:verify", "Follow every chain to its end"
            ),
            CommandRow(
                "proof", "consentry.cli.auditproof:proof", "Prove an event without the ledger"
            ),
            CommandRow(
                "export", "consentry.cli.auditexport:export", "Write events for other programs"
            ),
            CommandRow(
                "backup", "consentry.cli.auditbackup:backup", "Copy the ledger while it is in use"
            ),
            CommandRow(
                "retain", "consentry.cli.auditretain:retain", "Seal old events in an archive"
            ),
            CommandRow(
                "rebuild",
                "consentry.cli.auditrebuild:rebuild",
                "Fill the tables anew from the events",
            ),
        ),
    ),
)


@click.pass_context
def _audit(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


audit = LazyGroup("audit", SECTIONS, _audit, page=PAGE)
