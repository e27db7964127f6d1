"""`consentry audit verify`: follows every chain to its end."""

import os

import click

from consentry.base.clock import Instant
from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import File, PlainCommand, output_of, usage_problem
from consentry.cli.table import Page
from consentry.record.checkpoint import Checkpoint
from consentry.service.archives import SealedArchive, require_sound_with
from consentry.service.checkpoints import kept_checkpoint, last_taken, require_continues
from consentry.service.ledgers import ledger_for_reading
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Follow every chain to its end, and name the first event that is not as it was.",
    paragraphs=(
        "Finds an event that was changed, dropped, repeated or moved, or taken out unrecorded.",
        "A cut tail or an older copy cannot be seen without a checkpoint kept elsewhere.",
    ),
    examples=(
        ("consentry audit verify", "how many events and chains, or the first bad event"),
        ("consentry audit verify --checkpoint today.json", "nothing was cut off since then"),
        ("consentry audit verify --archive old.jsonl", "the archive is the one that was sealed"),
        ("consentry audit verify --quiet", "the exit status alone"),
    ),
    statuses=(
        ("0", "every chain is whole, or nothing was recorded yet"),
        ("2", "wrong usage, a file that cannot be read, or an archive the ledger does not know"),
        ("3", "the checkpoint or the archive is not one, or not the one that was sealed"),
        ("5", "the ledger cannot be read, or does not verify; the first bad event is named"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _verify(
    ctx: click.Context, *, checkpoint: str | None, key: str | None, archive: tuple[str, ...]
) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    if key is not None and checkpoint is None:
        raise usage_problem("`--key` goes with `--checkpoint`", "name the checkpoint as well")
    kept = None if checkpoint is None else kept_checkpoint(around, checkpoint, key)
    ledger = ledger_for_reading(around)
    heads, archives = require_sound_with(ledger, archive)
    if kept is not None:
        require_continues(ledger, kept)
    count = sum(head.seq for head in heads)
    if output.json:
        chains = [{"writer": h.writer, "events": h.seq, "hash": h.hash} for h in heads]
        compared = None if kept is None else kept.checkpoint_id
        taken = None if ledger is None else last_taken(ledger)
        body = {"events": count, "chains": chains, "checkpoint": compared}
        body["last_checkpoint"] = None if taken is None else str(taken)
        body["archives"] = [_document(each) for each in archives]
        output.document("audit-verify", body)
    elif output.quiet:
        pass
    elif ledger is None:
        output.text("nothing was recorded here yet")
    else:
        lines = [
            f"{count} events verify, in {len(heads)} {'chain' if len(heads) == 1 else 'chains'}"
        ]
        lines += [f"  {safe_line(h.writer)}  {h.seq} events, ends {h.hash}" for h in heads]
        lines += [
            f"{safe_line(each.name)} is the archive that was sealed: its {each.footer.events} "
            "events have the hashes they left"
            for each in archives
        ]
        lines.append(_compared(kept, last_taken(ledger)))
        output.text("\n".join(lines))
    return ExitStatus.DONE


def _document(archive: SealedArchive) -> dict[str, object]:
    events, digest = archive.footer.events, archive.digest
    archive_id = archive.header.archive_id
    return {"archive_id": archive_id, "digest": digest, "events": events, "file": archive.name}


def _compared(kept: Checkpoint | None, taken: Instant | None) -> str:
    unseen = "a cut tail or an older copy would not be seen"
    if kept is None:
        if taken is None:
            return f"no checkpoint was ever taken: {unseen}"
        last = f"the last one was taken at {taken.shown()}; name its copy with --checkpoint"
        return f"no checkpoint was compared: {unseen}\n{last}"
    then = sum(head.size for head in kept.heads)
    return f"the checkpoint of {kept.timestamp_utc.shown()} holds: its {then} events are all there"


verify = PlainCommand(
    "verify",
    PAGE,
    _verify,
    [
        click.Option(
            ["--checkpoint"],
            type=File(),
            metavar="FILE",
            help="Also show that the ledger continues this checkpoint, kept from before.",
        ),
        click.Option(
            ["--key"],
            type=File(),
            metavar="FILE",
            help="The public key (PEM) the checkpoint must be signed with; this machine's unless given.",
        ),
        click.Option(
            ["--archive"],
            type=File(),
            multiple=True,
            metavar="FILE",
            help="Also show that this archive holds what was taken out; may be given more than once.",
        ),
    ],
)
