"""Proofs about this machine's ledger: made from it, and verified where there is no ledger at all.

A proof carries its checkpoints. Whoever verifies one brings the public key, and better still what
they kept themselves: the checkpoint, and the event whose hash the proof is about. What they do not
bring is believed only as far as it was signed.
"""

from consentry.base.canonical import Digest, canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem, UsageProblem, Where
from consentry.base.values import dataclass
from consentry.record.checkpoint import Checkpoint
from consentry.record.envelope import hash_of
from consentry.record.fields import parse_document, whole_or_double
from consentry.record.proof import (
    ConsistencyProof,
    InclusionProof,
    make_consistency_proof,
    make_inclusion_proof,
    proof_from_text,
    verify_consistency_proof,
    verify_inclusion_proof,
)
from consentry.record.publickey import PublicKey
from consentry.store.eventplace import EventPlace, place_of
from consentry.store.history import History


@dataclass(frozen=True, slots=True)
class Brought:
    """What a verifier has from elsewhere; what is None is not compared."""

    event: Digest | None = None
    checkpoint: Checkpoint | None = None
    old: Checkpoint | None = None
    new: Checkpoint | None = None


def require_event(history: History | None, event_id: str) -> tuple[History, EventPlace]:
    """The ledger and the place of that event in it; archived events have one, too."""
    place = None if history is None else place_of(history.database, event_id)
    if history is None or place is None:
        raise UsageProblem(Code.EVENT_UNKNOWN, f"no event has the id `{event_id}`")
    return history, place


def prove_event(history: History, place: EventPlace, checkpoint: Checkpoint) -> InclusionProof:
    """That the event was there when the checkpoint was signed."""
    _require_same_store(history, checkpoint)
    head = checkpoint.head_of(place.writer)
    size = 0 if head is None else head.size
    if place.seq > size:
        raise BadInput(
            Code.PROOF,
            f"the event was recorded after the checkpoint of {checkpoint.timestamp_utc.shown()}: it is "
            f"event {place.seq} of `{place.writer}`, of which the checkpoint has seen {size}",
            help_line="name a later checkpoint, or none: then one is taken now",
        )
    return make_inclusion_proof(
        place.hash,
        place.seq - 1,
        writer=place.writer,
        events=history.hashes(place.writer, size),
        checkpoint=checkpoint,
    )


def prove_growth(history: History | None, old: Checkpoint, new: Checkpoint) -> ConsistencyProof:
    """That the later checkpoint continues the earlier one."""
    if history is None:
        message = "the ledger that the checkpoints are of is not here"
        raise LedgerProblem(Code.CHECKPOINT, message)
    for checkpoint in (old, new):
        _require_same_store(history, checkpoint)
    sizes = {head.writer: head.size for head in new.heads}
    return make_consistency_proof(
        old, new, lambda writer: history.hashes(writer, sizes.get(writer, 0))
    )


def verify_proof(
    text: bytes, trusted: PublicKey, brought: Brought
) -> InclusionProof | ConsistencyProof:
    """Returns the proof in the file; raises unless it holds, and for what was brought."""
    proof = proof_from_text(text)
    if isinstance(proof, ConsistencyProof):
        _require_unused(brought.checkpoint, "`--checkpoint`", "name the two with --from and --to")
        _require_unused(brought.event, "`--event`", "this proof is about two checkpoints")
        _require_same("old", brought.old, proof.old)
        _require_same("new", brought.new, proof.new)
        return verify_consistency_proof(proof, trusted)
    for given in (brought.old, brought.new):
        _require_unused(given, "`--from` and `--to`", "name its checkpoint with --checkpoint")
    _require_same("checkpoint", brought.checkpoint, proof.checkpoint)
    return verify_inclusion_proof(proof, trusted, event=brought.event or proof.event)


def event_hash(text: bytes) -> Digest:
    """The hash of an event, computed from all it says; as `audit show` or an export printed it."""
    event = parse_document(text, Code.PROOF, whole=whole_or_double)
    if isinstance(event, dict) and event.get("kind") == "audit-event":
        event = event.get("event")
    if not isinstance(event, dict) or "eventId" not in event:
        raise BadInput(Code.PROOF, "this is not an event as `consentry audit show` prints one")
    claimed = event.pop("hash", None)
    computed = hash_of(canonical_json(event))
    if claimed is not None and claimed != computed:
        message = f"the event does not have this hash; its own is `{computed}`"
        raise BadInput(Code.PROOF, message, where=Where(field="hash"))
    return computed


def _require_same_store(history: History, checkpoint: Checkpoint) -> None:
    if history.store_id() != checkpoint.store_id:
        when = f"the checkpoint of {checkpoint.timestamp_utc.shown()}"
        raise LedgerProblem(
            Code.CHECKPOINT, f"{when} is of another ledger, `{checkpoint.store_id}`"
        )


def _require_same(field: str, brought: Checkpoint | None, found: Checkpoint) -> None:
    if brought is not None and brought != found:
        given = f"`{brought.checkpoint_id}` of {brought.timestamp_utc}"
        message = f"the proof carries another checkpoint than the one given, {given}"
        raise BadInput(Code.PROOF, message, where=Where(field=field))


def _require_unused(given: object, option: str, help_line: str) -> None:
    if given is not None:
        message = f"{option} does not fit this kind of proof"
        raise UsageProblem(Code.USAGE, message, help_line=help_line)
