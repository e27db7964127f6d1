"""Proofs about the ledger that can be checked away from it, with a document and a public key.

An inclusion proof shows that an event, known by its hash, was in a writer's chain at a place when a
checkpoint was signed. A consistency proof shows that a later checkpoint continues an earlier one:
every chain that the earlier one saw is the beginning of the same writer's chain in the later one.

Both carry the checkpoints whole, so that nothing else is needed to verify them; what a reader must
bring is the public key, from where it was handed out, and the event's hash, computed from the
event. Sizes, roots and heads are believed only as far as they stand in a signed checkpoint.

Not shown: that the event is true, or that the key's holder has not signed a second history. The two
checkpoints of a consistency proof may come from different places; that is what makes it worth
asking for.

`index` counts from 0: an event with `seq` 1 is at index 0. Hashes in a path are hexadecimal, lowest
first, as RFC 6962 orders them.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, Final

from consentry.base.canonical import Digest, Json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.base.values import dataclass
from consentry.record import merkle
from consentry.record.checkpoint import (
    Checkpoint,
    Head,
    checkpoint_from_json,
    checkpoint_to_json,
    compare_checkpoints,
    event_leaf,
    head_from_json,
    head_to_json,
    verify_checkpoint,
)
from consentry.record.fields import (
    check_constant,
    check_digest,
    check_path,
    check_text,
    check_whole,
    parse_document,
    placed,
    read_list,
    read_object,
)
from consentry.record.publickey import PublicKey

SCHEMA_VERSION: Final = 1
INCLUSION: Final = "inclusion-proof"
CONSISTENCY: Final = "consistency-proof"


@dataclass(frozen=True, slots=True)
class InclusionProof:
    """From an event up to its writer's head, and from the head up to a checkpoint's root."""

    event: Digest
    writer: str
    index: int
    writer_path: tuple[str, ...]
    head: Head
    head_index: int
    heads_path: tuple[str, ...]
    checkpoint: Checkpoint
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        check_constant("schema_version", self.schema_version, SCHEMA_VERSION, Code.PROOF)
        check_digest("event", self.event, Code.PROOF)
        check_text("writer", self.writer, Code.PROOF)
        check_whole("index", self.index, Code.PROOF, least=0)
        check_path("writer_path", self.writer_path, Code.PROOF)
        check_whole("head_index", self.head_index, Code.PROOF, least=0)
        check_path("heads_path", self.heads_path, Code.PROOF)


@dataclass(frozen=True, slots=True)
class Growth:
    """How one writer's chain went from its size in the earlier checkpoint to the one in the later."""

    writer: str
    old_size: int
    new_size: int
    path: tuple[str, ...]

    def __post_init__(self) -> None:
        check_text("writer", self.writer, Code.PROOF)
        check_whole("old_size", self.old_size, Code.PROOF, least=1)
        check_whole("new_size", self.new_size, Code.PROOF, least=1)
        check_path("path", self.path, Code.PROOF)


@dataclass(frozen=True, slots=True)
class ConsistencyProof:
    """One growth for every writer of the earlier checkpoint, in its order."""

    old: Checkpoint
    new: Checkpoint
    growths: tuple[Growth, ...]
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        check_constant("schema_version", self.schema_version, SCHEMA_VERSION, Code.PROOF)


def make_inclusion_proof(
    event: Digest, index: int, *, writer: str, events: Iterable[Digest], checkpoint: Checkpoint
) -> InclusionProof:
    """A proof from the hashes of the writer's events, oldest first, which are read once.

    Raises when they do not lead from this event to the checkpoint. A proof that is made is true of
    the checkpoint, not of the events as they are now: whether those are whole is for following the
    chain. Events behind the checkpoint are not read. Does not verify who signed the checkpoint.
    """
    heads = checkpoint.heads
    head_index = next((i for i, each in enumerate(heads) if each.writer == writer), None)
    if head_index is None:
        raise BadInput(Code.PROOF, f"the checkpoint knows no writer `{writer}`")
    head = heads[head_index]
    writer_path = merkle.inclusion_proof(map(event_leaf, events), index, head.size)
    heads_path = merkle.inclusion_proof((each.leaf() for each in heads), head_index, len(heads))
    proof = InclusionProof(
        event=event,
        writer=writer,
        index=index,
        writer_path=_as_hex(writer_path),
        head=head,
        head_index=head_index,
        heads_path=_as_hex(heads_path),
        checkpoint=checkpoint,
    )
    _verify_paths(proof)
    return proof


def verify_inclusion_proof(
    proof: InclusionProof | object,
    trusted: PublicKey | Iterable[PublicKey],
    *,
    event: Digest,
) -> InclusionProof:
    """Returns the proof, read if it came as a document; raises unless it shows this event.

    1. It is about this event. 2. A trusted key signed its checkpoint. 3. Its head stands in that
    checkpoint. 4. The paths lead from the event to the head and from the head to the root.
    """
    known = proof if isinstance(proof, InclusionProof) else inclusion_from_json(proof)
    if known.event != event:
        message = f"the proof is about the event `{known.event}`, not about `{event}`"
        raise BadInput(Code.PROOF, message, where=Where(field="event"))
    verify_checkpoint(known.checkpoint, trusted)
    _verify_paths(known)
    return known


def make_consistency_proof(
    old: Checkpoint, new: Checkpoint, events_of: Callable[[str], Iterable[Digest]]
) -> ConsistencyProof:
    """A proof from the ledger; `events_of` gives the hashes of a writer's events, oldest first.

    Raises when the checkpoints contradict each other, or the events do not lead from one to the
    other. As with inclusion, it is the checkpoints that a proof is true of. Does not verify who
    signed them.
    """
    _check_compatible(old, new)
    growths = []
    for before in old.heads:
        after = _head_in(new, before.writer)
        leaves = map(event_leaf, events_of(before.writer))
        path = merkle.consistency_proof(leaves, before.size, after.size)
        growths.append(Growth(before.writer, before.size, after.size, _as_hex(path)))
    proof = ConsistencyProof(old, new, tuple(growths))
    _verify_growths(proof)
    return proof


def verify_consistency_proof(
    proof: ConsistencyProof | object, trusted: PublicKey | Iterable[PublicKey]
) -> ConsistencyProof:
    """Returns the proof, read if it came as a document; raises unless `new` continues `old`.

    1. Trusted keys signed both checkpoints. 2. They do not contradict each other by themselves.
    3. Every writer of the earlier one has its growth, with the sizes that were signed. 4. Each
    path leads to both signed roots. Compare `old` with the checkpoint that you kept.
    """
    known = proof if isinstance(proof, ConsistencyProof) else consistency_from_json(proof)
    keys = (trusted,) if isinstance(trusted, PublicKey) else tuple(trusted)
    verify_checkpoint(known.old, keys)
    verify_checkpoint(known.new, keys)
    _check_compatible(known.old, known.new)
    _verify_growths(known)
    return known


def inclusion_to_json(proof: InclusionProof) -> dict[str, Json]:
    """The document form."""
    return {
        "schema_version": proof.schema_version,
        "kind": INCLUSION,
        "event": proof.event,
        "writer": proof.writer,
        "index": proof.index,
        "writer_path": list(proof.writer_path),
        "head": head_to_json(proof.head),
        "head_index": proof.head_index,
        "heads_path": list(proof.heads_path),
        "checkpoint": checkpoint_to_json(proof.checkpoint),
    }


def inclusion_from_json(document: object) -> InclusionProof:
    """Reads what `inclusion_to_json` writes; says nothing yet about what it shows."""
    values = _read_fields(document, INCLUSION, InclusionProof)
    with placed("head", Code.PROOF):
        values["head"] = head_from_json(values["head"])
    values["checkpoint"] = _read_checkpoint("checkpoint", values)
    for name in ("writer_path", "heads_path"):
        values[name] = tuple(read_list(name, values[name], Code.PROOF))
    return InclusionProof(**values)


def consistency_to_json(proof: ConsistencyProof) -> dict[str, Json]:
    """The document form."""
    return {
        "schema_version": proof.schema_version,
        "kind": CONSISTENCY,
        "old": checkpoint_to_json(proof.old),
        "new": checkpoint_to_json(proof.new),
        "growths": [
            {
                "writer": growth.writer,
                "old_size": growth.old_size,
                "new_size": growth.new_size,
                "path": list(growth.path),
            }
            for growth in proof.growths
        ],
    }


def consistency_from_json(document: object) -> ConsistencyProof:
    """Reads what `consistency_to_json` writes; says nothing yet about what it shows."""
    values = _read_fields(document, CONSISTENCY, ConsistencyProof)
    growths = []
    for index, each in enumerate(read_list("growths", values["growths"], Code.PROOF)):
        with placed(f"growths[{index}]", Code.PROOF):
            growth = read_object(each, _names(Growth), Code.PROOF)
            growth["path"] = tuple(read_list("path", growth["path"], Code.PROOF))
            growths.append(Growth(**growth))
    values["old"] = _read_checkpoint("old", values)
    values["new"] = _read_checkpoint("new", values)
    return ConsistencyProof(**{**values, "growths": tuple(growths)})


def proof_from_text(text: str | bytes) -> InclusionProof | ConsistencyProof:
    """Reads a proof file of either kind."""
    document = parse_document(text, Code.PROOF)
    kind = document.get("kind") if isinstance(document, dict) else None
    return consistency_from_json(document) if kind == CONSISTENCY else inclusion_from_json(document)


def _verify_paths(proof: InclusionProof) -> None:
    """Everything about an inclusion proof but the signature on its checkpoint."""
    heads, head = proof.checkpoint.heads, proof.head
    if proof.head_index >= len(heads) or heads[proof.head_index] != head:
        message = "the head does not stand there in the checkpoint"
        raise BadInput(Code.PROOF, message, where=Where(field="head"))
    if head.writer != proof.writer:
        message = f"the head is not one of the writer `{proof.writer}`"
        raise BadInput(Code.PROOF, message, where=Where(field="writer"))
    if proof.index == head.size - 1 and proof.event != head.last:
        message = "the head names another event as its last"
        raise BadInput(Code.PROOF, message, where=Where(field="event"))
    leaf, root = event_leaf(proof.event), bytes.fromhex(head.root)
    with placed("writer_path", Code.PROOF):
        path = _as_bytes(proof.writer_path)
        merkle.verify_inclusion(leaf, proof.index, head.size, path, root)
    root = bytes.fromhex(proof.checkpoint.root)
    with placed("heads_path", Code.PROOF):
        path = _as_bytes(proof.heads_path)
        merkle.verify_inclusion(head.leaf(), proof.head_index, len(heads), path, root)


def _verify_growths(proof: ConsistencyProof) -> None:
    """Everything about a consistency proof but the signatures and what the heads say alone."""
    signed = [
        (head.writer, head.size, _head_in(proof.new, head.writer).size) for head in proof.old.heads
    ]
    if [(each.writer, each.old_size, each.new_size) for each in proof.growths] != signed:
        message = "these are not the writers and sizes of the two checkpoints"
        raise BadInput(Code.PROOF, message, where=Where(field="growths"))
    for index, (before, growth) in enumerate(zip(proof.old.heads, proof.growths, strict=True)):
        after = _head_in(proof.new, before.writer)
        with placed(f"growths[{index}].path", Code.PROOF):
            merkle.verify_consistency(
                before.size,
                bytes.fromhex(before.root),
                after.size,
                bytes.fromhex(after.root),
                _as_bytes(growth.path),
            )


def _check_compatible(old: Checkpoint, new: Checkpoint) -> None:
    contradictions = compare_checkpoints(old, new)
    if contradictions:
        raise BadInput(Code.PROOF, contradictions[0].message, where=Where(field="new"))


def _head_in(checkpoint: Checkpoint, writer: str) -> Head:
    head = checkpoint.head_of(writer)
    if head is None:
        raise BadInput(Code.PROOF, f"the checkpoint knows no writer `{writer}`")
    return head


def _read_fields(document: object, kind: str, shape: type) -> dict[str, Any]:
    values = read_object(document, ("kind", *_names(shape)), Code.PROOF)
    check_constant("kind", values.pop("kind"), kind, Code.PROOF)
    check_constant("schema_version", values["schema_version"], SCHEMA_VERSION, Code.PROOF)
    return values


def _read_checkpoint(name: str, values: dict[str, Any]) -> Checkpoint:
    with placed(name, Code.PROOF):
        return checkpoint_from_json(values[name])


def _names(shape: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(shape))


def _as_hex(path: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(each.hex() for each in path)


def _as_bytes(path: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(bytes.fromhex(each) for each in path)
