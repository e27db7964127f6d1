"""`consentry audit proof`: shows one event, or the growth of the ledger, to somebody without it."""

import json
import os
from typing import TYPE_CHECKING, TypeAlias

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass
from consentry.cli.command import File, PlainCommand, Text, output_of, usage_problem
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.record.checkpoint import Checkpoint, checkpoint_from_text
from consentry.record.proof import (
    ConsistencyProof,
    InclusionProof,
    consistency_to_json,
    inclusion_to_json,
)
from consentry.service.checkpoints import kept_checkpoint, take_checkpoint, trusted_key
from consentry.service.ledgers import ledger_for_reading
from consentry.service.placedfile import PlacedFile, place_new
from consentry.service.proofs import (
    Brought,
    event_hash,
    prove_event,
    prove_growth,
    require_event,
    verify_proof,
)
from consentry.service.surroundings import Surroundings, look_around
from consentry.service.userfiles import read_named

if TYPE_CHECKING:
    from consentry.base.canonical import Json

PAGE = Page(
    summary="Prove that an event was recorded, or that one checkpoint continues another.",
    paragraphs=(
        "A proof is one document, with its checkpoints in it. Archived events can be proven, too.",
        "With --verify and the public key it is verified on any machine, without the ledger.",
        "It does not show that the event is true, nor that the key has signed one history only.",
    ),
    arguments=(("ID", "The event's id, as `consentry audit log` prints it."),),
    examples=(
        ("consentry audit proof ID --out proof.json", "in a checkpoint that is taken now"),
        ("consentry audit proof ID --checkpoint today.json", "in one that was kept"),
        ("consentry audit proof --from old.json --to new.json", "nothing was rewritten between"),
        (
            "consentry audit proof --verify proof.json --event event.json --key key.pem",
            "needs no ledger",
        ),
    ),
    statuses=(
        ("0", "proven; with --verify: the proof holds"),
        ("2", "wrong usage, no event has that id, or a file cannot be read or made"),
        ("3", "not a proof, or one that does not show what it is said to show"),
        ("5", "the ledger cannot be read or written, or a checkpoint is not to be trusted"),
        ("126", "the state directory is not safe to use"),
    ),
)


AnyProof: TypeAlias = InclusionProof | ConsistencyProof


@dataclass(frozen=True, slots=True)
class _Files:
    """The files that were named."""

    checkpoint: str | None
    old: str | None
    new: str | None
    event: str | None
    key: str | None
    out: str | None


@click.pass_context
def _proof(
    ctx: click.Context, /, *, event_id: str | None, verify: str | None, **named: str | None
) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    files = _Files(**named)
    if verify is not None:
        _require_absent(event_id, "an id", "`--verify` reads a file; name the event with --event")
        _require_absent(files.out, "`--out`", "`--verify` makes nothing")
        return _verified(around, verify, files, output)
    _require_absent(files.event, "`--event`", "it goes with `--verify`; name the event by its id")
    if event_id is not None:
        for each in (files.old, files.new):
            _require_absent(each, "an id", "`--from` and `--to` are for two checkpoints")
        return _told(output, files.out, _of_event(around, event_id, files))
    if files.old is None or files.new is None:
        raise usage_problem(
            "there is nothing to prove", "name an event by its id, or `--from` and `--to`"
        )
    _require_absent(files.checkpoint, "`--checkpoint`", "name the two with `--from` and `--to`")
    old, new = (kept_checkpoint(around, name, files.key) for name in (files.old, files.new))
    growth = prove_growth(ledger_for_reading(around), old, new)
    if files.out is not None:
        _place(files.out, growth)
    return _told(output, files.out, growth)


def _of_event(around: Surroundings, event_id: str, files: _Files) -> InclusionProof:
    history, place = require_event(ledger_for_reading(around), event_id)
    if files.checkpoint is not None:
        kept = kept_checkpoint(around, files.checkpoint, files.key)
        proof = prove_event(history, place, kept)
        if files.out is not None:
            _place(files.out, proof)
        return proof
    _require_absent(files.key, "`--key`", "it goes with `--checkpoint`; a new one has our own key")
    made: list[InclusionProof] = []

    def written(signed: Checkpoint) -> PlacedFile | None:
        made.append(prove_event(history, place, signed))
        return None if files.out is None else _place(files.out, made[0])

    clock = SystemClock()
    take_checkpoint(around, clock, Uuid7Ids(clock), written)
    return made[0]


def _verified(around: Surroundings, file: str, files: _Files, output: Output) -> ExitStatus:
    brought = Brought(
        event=None if files.event is None else event_hash(read_named(files.event)),
        checkpoint=_read_checkpoint(files.checkpoint),
        old=_read_checkpoint(files.old),
        new=_read_checkpoint(files.new),
    )
    proof = verify_proof(read_named(file), trusted_key(around, files.key), brought)
    if output.json:
        body = {"proof": _document(proof), "event_compared": brought.event is not None}
        output.document("audit-proof-verified", body)
    elif not output.quiet:
        output.text(f"the proof holds: {_words(proof)}")
        if isinstance(proof, InclusionProof) and brought.event is None:
            output.text("no event was given: compare this hash with the event's own")
    return ExitStatus.DONE


def _told(output: Output, out: str | None, proof: AnyProof) -> ExitStatus:
    if output.json:
        output.document("audit-proof", {"proof": _document(proof), "file": out})
    elif out is None or output.quiet:
        output.text(_text(proof))
    else:
        output.text(f"{_words(proof)}\nwritten to {safe_line(out)}")
    return ExitStatus.DONE


def _words(proof: AnyProof) -> str:
    if isinstance(proof, InclusionProof):
        signed = proof.checkpoint
        return (
            f"{proof.event} is event {proof.index + 1} of {safe_line(proof.writer)}, in the "
            f"checkpoint of {signed.timestamp_utc.shown()}, signed with {signed.key_id}"
        )
    old, new = proof.old, proof.new
    return (
        f"the checkpoint of {new.timestamp_utc.shown()}, signed with {new.key_id}, continues the one of "
        f"{old.timestamp_utc.shown()}: {sum(head.size for head in old.heads)} events are still the same"
    )


def _document(proof: AnyProof) -> "dict[str, Json]":
    if isinstance(proof, InclusionProof):
        return inclusion_to_json(proof)
    return consistency_to_json(proof)


def _text(proof: AnyProof) -> str:
    return json.dumps(_document(proof), indent=2, ensure_ascii=True)


def _place(out: str, proof: AnyProof) -> PlacedFile:
    return place_new(out, f"{_text(proof)}\n".encode())


def _read_checkpoint(name: str | None) -> Checkpoint | None:
    return None if name is None else checkpoint_from_text(read_named(name))


def _require_absent(given: str | None, what: str, help_line: str) -> None:
    if given is not None:
        raise usage_problem(f"{what} does not go with the rest of the line", help_line)


def _file(names: list[str], help_line: str) -> click.Option:
    return click.Option(names, type=File(), metavar="FILE", help=help_line)


proof = PlainCommand(
    "proof",
    PAGE,
    _proof,
    [
        click.Argument(["event_id"], type=Text(), metavar="[ID]", required=False),
        _file(["--checkpoint"], "The checkpoint to prove the event in; a new one unless given."),
        _file(["--from", "old"], "The earlier of two checkpoints."),
        _file(["--to", "new"], "The later of two checkpoints."),
        _file(["--out"], "Write the proof to this new file."),
        _file(["--verify"], "Verify the proof in this file; needs no ledger."),
        _file(
            ["--event"], "With --verify: the event that it must be about, as `audit show` prints."
        ),
        _file(
            ["--key"], "The public key (PEM) that must have signed; this machine's unless given."
        ),
    ],
)
