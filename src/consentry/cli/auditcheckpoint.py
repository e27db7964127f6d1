"""`consentry audit checkpoint`: signs where every chain ends now."""

import json
import os
from functools import partial

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.cli.command import File, PlainCommand, output_of
from consentry.cli.table import Page
from consentry.record.checkpoint import Checkpoint, checkpoint_to_json
from consentry.service.checkpoints import public_key, take_checkpoint, to_be_printed
from consentry.service.placedfile import PlacedFile, place_new
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Sign where every chain ends now, to be compared with later.",
    paragraphs=(
        "Follows every chain first. The key is made on first use and stays in the state directory.",
        "That a checkpoint was taken is recorded in the ledger, behind what it covers.",
        "Keep the checkpoint elsewhere: whoever holds the key can sign another history.",
    ),
    examples=(
        ("consentry audit checkpoint --out today.json", "into a new file"),
        ("consentry audit checkpoint --public-key", "what others verify it with (PEM)"),
        ("consentry audit checkpoint --quiet", "the bare document"),
    ),
    statuses=(
        ("0", "signed and recorded"),
        ("2", "wrong usage, nothing was recorded yet, or the file cannot be made"),
        ("5", "the ledger cannot be read or written or does not verify, or the key cannot be used"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _checkpoint(ctx: click.Context, *, out: str | None, public: bool) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    if public:
        pem = public_key(around).to_pem()
        if output.json:
            output.document("public-key", {"public_key": pem})
        else:
            output.text(pem.rstrip("\n"))
        return ExitStatus.DONE
    clock = SystemClock()
    written = to_be_printed if out is None else partial(_written, out)
    made = take_checkpoint(around, clock, Uuid7Ids(clock), written)
    document = _as_text(made)
    if output.json:
        output.document("audit-checkpoint", {"checkpoint": checkpoint_to_json(made), "file": out})
    elif out is None or output.quiet:
        output.text(document.rstrip("\n"))
    else:
        events = sum(head.size for head in made.heads)
        output.text(f"{events} events signed with {made.key_id}, written to {safe_line(out)}")
    return ExitStatus.DONE


def _written(out: str, made: Checkpoint) -> PlacedFile:
    return place_new(out, _as_text(made).encode())


def _as_text(made: Checkpoint) -> str:
    return json.dumps(checkpoint_to_json(made), indent=2, ensure_ascii=True) + "\n"


checkpoint = PlainCommand(
    "checkpoint",
    PAGE,
    _checkpoint,
    [
        click.Option(
            ["--out"], type=File(), metavar="FILE", help="Write it to this new file instead."
        ),
        click.Option(
            ["--public-key", "public"],
            is_flag=True,
            help="Print the public key that verifies checkpoints of this machine, and sign nothing.",
        ),
    ],
)
