"""`consentry audit retain`: seals old events in an archive, and leaves their hashes in the chain."""

import os
from contextlib import closing

import click

from consentry.base.clock import Instant, SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.cli.command import File, PlainCommand, output_of, usage_problem
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.record.archiverecord import ArchiveRecord
from consentry.service.audit import require_sound
from consentry.service.ledgers import ledger_for_reading
from consentry.service.retention import Age, OldEvents, find_old
from consentry.service.retention import retain as retain_events
from consentry.service.sessions import journal_here
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Seal old events in an archive file and take them out of the ledger.",
    paragraphs=(
        "Each leaves its hash in the chain, which still verifies; so do checkpoints from before.",
        "A tool's event that names its own `retainLogs` stays that long, where that is longer.",
        "Without `--older-than` and `--before`, only events that name one are archived.",
        (
            "Records of archives and checkpoints, events that fill tables, and approvals and violations "
            "of modules are never archived."
        ),
    ),
    examples=(
        ("consentry audit retain --older-than 90d --dry-run", "what would be archived"),
        ("consentry audit retain --older-than 90d --out old.jsonl", "into a new file"),
        ("consentry audit retain --out old.jsonl", "what is past its own retainLogs"),
        ("consentry audit verify --archive old.jsonl", "the file is the one that was sealed"),
    ),
    statuses=(
        ("0", "archived, or nothing is old enough"),
        ("2", "wrong usage, or the file cannot be made"),
        ("3", "a span or a time that cannot be read"),
        ("5", "the ledger cannot be written, does not verify, or changed meanwhile"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _retain(
    ctx: click.Context, *, older_than: str | None, before: str | None, out: str | None, dry: bool
) -> ExitStatus:
    output = output_of(ctx)
    clock = SystemClock()
    age = Age.asked_for(clock, older_than, before)
    if (out is None) != dry:
        raise usage_problem(
            "either `--out` or `--dry-run` is needed",
            "name a new file for the archive with --out, or only look with --dry-run",
        )
    around = look_around(os.environ)
    history = ledger_for_reading(around)
    record = None
    if history is None:
        old = None
    elif out is None:
        require_sound(history)
        old = find_old(history.database, age)
    else:
        journal = journal_here(around, clock, Uuid7Ids(clock))
        with closing(journal.ledger):
            old, record = retain_events(journal, age, out)
    _tell(output, old, record, out)
    return ExitStatus.DONE


def _tell(
    output: Output, old: OldEvents | None, record: ArchiveRecord | None, out: str | None
) -> None:
    if output.json:
        output.document("audit-retain", _document(old, record, out))
    elif output.quiet:
        if record is not None:
            output.text(record.archive_id)
    elif old is None:
        output.text("nothing was recorded here yet")
    elif not old.events:
        output.text("no event is old enough")
    else:
        output.text("\n".join(_lines(old, record, out)))


def _lines(old: OldEvents, record: ArchiveRecord | None, out: str | None) -> list[str]:
    if record is None:
        lines = [f"{old.events} events would be archived"]
    else:
        lines = [f"{old.events} events archived in {safe_line(str(out))} as {record.archive_id}"]
    lines += [
        f"  {safe_line(each.writer)}  {each.events} events, "
        f"{each.first_seq} to {each.last_seq}, {_shown(each.oldest)} to {_shown(each.newest)}"
        for each in old.writers
    ]
    if record is not None:
        lines.append(f"keep the file: the ledger has only their hashes now; it is {record.digest}")
    if old.has_more:
        lines.append("more events are old enough: run the command again, with another file")
    return lines


def _shown(stored: str) -> str:
    return Instant.parse(stored).shown()


def _document(
    old: OldEvents | None, record: ArchiveRecord | None, out: str | None
) -> dict[str, object]:
    archive = None
    if record is not None:
        archive = {"archive_id": record.archive_id, "digest": record.digest, "file": out}
    return {
        "dry_run": out is None,
        "events": 0 if old is None else old.events,
        "before": None if old is None else str(old.selection.before),
        "writers": [] if old is None else [each._asdict() for each in old.writers],
        "more": old is not None and old.has_more,
        "archive": archive,
    }


retain = PlainCommand(
    "retain",
    PAGE,
    _retain,
    [
        click.Option(
            ["--older-than"], metavar="SPAN", help="Archive what is older than this: 90d, 1week."
        ),
        click.Option(
            ["--before"], metavar="TIME", help="Archive what is from before: 2026-01-31T09:30:00Z."
        ),
        click.Option(
            ["--out"], type=File(), metavar="FILE", help="The new file that becomes the archive."
        ),
        click.Option(["--dry-run", "dry"], is_flag=True, help="Only say what would be archived."),
    ],
)
