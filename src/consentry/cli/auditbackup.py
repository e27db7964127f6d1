"""`consentry audit backup`: a verified copy of the ledger, made while it is in use."""

import os

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import File, PlainCommand, output_of
from consentry.cli.table import Page
from consentry.service.backups import make_backup
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Copy the ledger into a new file while others record, and verify the copy.",
    paragraphs=(
        "The copy is of one moment, with mode 0600. It appears when every chain in it was followed.",
        "The key and the machine's id are not in it: copy `checkpoint-key` and `machine-id` apart.",
        "A ledger on PostgreSQL is backed up with the server's own tools.",
    ),
    arguments=(("FILE", "A new file for the copy; an existing one is never overwritten."),),
    examples=(
        ("consentry audit backup ledger-backup.db", "into this folder"),
        ("consentry audit backup /mnt/safe/ledger.db --json", "and say what is in it"),
    ),
    statuses=(
        ("0", "copied and verified"),
        ("2", "wrong usage, nothing to copy, a PostgreSQL ledger, or the file cannot be made"),
        ("5", "the ledger cannot be read or does not verify; no copy is left"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _backup(ctx: click.Context, *, file: str) -> ExitStatus:
    output = output_of(ctx)
    made = make_backup(look_around(os.environ), file)
    if output.json:
        chains = [{"writer": h.writer, "events": h.seq, "hash": h.hash} for h in made.heads]
        body = {"file": file, "store_id": made.store_id, "events": made.events, "chains": chains}
        output.document("audit-backup", body)
    elif not output.quiet:
        lines = [f"{made.events} events copied to {safe_line(file)}, and verified there"]
        lines += [f"  {safe_line(h.writer)}  {h.seq} events, ends {h.hash}" for h in made.heads]
        lines.append("the key and the machine's id are not in it")
        output.text("\n".join(lines))
    return ExitStatus.DONE


backup = PlainCommand(
    "backup", PAGE, _backup, [click.Argument(["file"], type=File(), metavar="FILE")]
)
