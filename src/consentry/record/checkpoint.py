"""Checkpoints: where every writer's chain ended at one moment, signed with a local Ed25519 key.

    {"schema_version": 1, "kind": "checkpoint", "checkpoint_id": "checkpoint-…",
     "timestamp_utc": "…Z", "store_id": "…",
     "heads": [{"writer": "…", "size": 3, "last": "sha256:…", "root": "<hex>"}],
     "root": "<hex>", "key_id": "ed25519:…", "signature": "<hex>"}

A head's `root` is the RFC 6962 root over that writer's events, each leaf being the 32 bytes of an
event's hash; the checkpoint's `root` is the one over its heads, each leaf being a head's canonical
JSON, ordered by writer (by code point). The signature is over `SIGNING_DOMAIN` and the canonical
JSON of everything else in the document.

What it is good for: somebody who kept a checkpoint elsewhere can tell that a tail was cut off, that
an older copy was put in place, or that history was written anew. What it is not: whoever holds the
private key can sign another history, and a ledger of which no checkpoint was kept elsewhere can be
replaced unseen. The time in it is the signer's own word.
"""

from collections.abc import Iterable
from dataclasses import fields
from enum import StrEnum
from itertools import pairwise
from typing import Final

from consentry.base.canonical import Digest, Json, canonical_json
from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem, Where
from consentry.base.ids import IdSource, check_id
from consentry.base.values import dataclass, replace
from consentry.record import merkle
from consentry.record.fields import (
    check_constant,
    check_digest,
    check_hex,
    check_text,
    check_whole,
    parse_document,
    placed,
    read_list,
    read_object,
)
from consentry.record.publickey import (
    KEY_ID_DIGITS,
    KEY_ID_PREFIX,
    SIGNATURE_BYTES,
    PublicKey,
    Signer,
    verify_with_trusted,
)

SCHEMA_VERSION: Final = 1
KIND: Final = "checkpoint"
CHECKPOINT_PREFIX: Final = "checkpoint"
SIGNING_DOMAIN: Final = b"consentry-checkpoint-v1\n"
"""Signed in front of the document, so that the signature cannot be passed off as one of another kind."""


@dataclass(frozen=True, slots=True)
class Head:
    """Where one writer's chain ended: how many events, the hash of the last, the root over all."""

    writer: str
    size: int
    last: Digest
    root: str

    def __post_init__(self) -> None:
        check_text("writer", self.writer, Code.CHECKPOINT)
        check_whole("size", self.size, Code.CHECKPOINT, least=1)
        check_digest("last", self.last, Code.CHECKPOINT)
        check_hex("root", self.root, Code.CHECKPOINT)

    def leaf(self) -> bytes:
        """The head as a leaf of the tree over all heads."""
        return merkle.leaf_hash(canonical_json(head_to_json(self)))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """All heads at one moment, signed; well-formed by construction, believed only once verified."""

    checkpoint_id: str
    timestamp_utc: Instant
    store_id: str
    heads: tuple[Head, ...]
    root: str
    key_id: str
    signature: str
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        check_constant("schema_version", self.schema_version, SCHEMA_VERSION, Code.CHECKPOINT)
        check_text("checkpoint_id", self.checkpoint_id, Code.CHECKPOINT)
        with placed("checkpoint_id", Code.CHECKPOINT):
            check_id(self.checkpoint_id, CHECKPOINT_PREFIX)
        check_text("store_id", self.store_id, Code.CHECKPOINT)
        for index, (before, after) in enumerate(pairwise(self.heads), 1):
            if before.writer >= after.writer:
                where = Where(field=f"heads[{index}].writer")
                raise BadInput(Code.CHECKPOINT, "the heads are not in order", where=where)
        check_hex("root", self.root, Code.CHECKPOINT)
        check_text("key_id", self.key_id, Code.CHECKPOINT)
        _check_key_id(self.key_id)
        check_hex("signature", self.signature, Code.CHECKPOINT, digits=2 * SIGNATURE_BYTES)

    def head_of(self, writer: str) -> Head | None:
        """The head of that writer, if it had recorded anything."""
        return next((head for head in self.heads if head.writer == writer), None)


class ContradictionKind(StrEnum):
    """In which way a later checkpoint cannot come from the history that an earlier one saw."""

    OTHER_STORE = "other-store"
    WRITER_MISSING = "writer-missing"
    SIZE_WENT_BACK = "size-went-back"
    OTHER_LAST = "other-last-at-the-same-size"
    OTHER_ROOT = "other-root-at-the-same-size"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One thing that cannot be true of both checkpoints; `writer` is None where it is about all."""

    kind: ContradictionKind
    writer: str | None
    message: str


def event_leaf(event: Digest) -> bytes:
    """An event, known by its hash, as a leaf of its writer's tree."""
    check_digest("event", event, Code.CHECKPOINT)
    return merkle.leaf_hash(bytes.fromhex(event.partition(":")[2]))


def make_head(writer: str, events: Iterable[Digest]) -> Head:
    """The head over the hashes of all events of a writer, oldest first; read once, not kept."""
    last = Digest("")

    def leaves() -> Iterable[bytes]:
        nonlocal last
        for last in events:
            yield event_leaf(last)

    frontier = merkle.Frontier().extended(leaves())
    return Head(writer, frontier.size, last, frontier.root().hex())


def heads_root(heads: Iterable[Head]) -> str:
    """The root over the heads, in the order given."""
    return merkle.root_of(head.leaf() for head in heads).hex()


def make_checkpoint(
    heads: Iterable[Head], *, clock: Clock, ids: IdSource, store_id: str, signer: Signer
) -> Checkpoint:
    """Signs where the chains end now; whoever holds the key can do the same for another history."""
    ordered = tuple(sorted(heads, key=lambda head: head.writer))
    unsigned = Checkpoint(
        checkpoint_id=ids.new(CHECKPOINT_PREFIX),
        timestamp_utc=clock.now(),
        store_id=store_id,
        heads=ordered,
        root=heads_root(ordered),
        key_id=signer.key_id,
        signature="0" * (2 * SIGNATURE_BYTES),
    )
    return replace(unsigned, signature=signer.sign(_signed_bytes(unsigned)).hex())


def verify_checkpoint(
    checkpoint: Checkpoint | object, trusted: PublicKey | Iterable[PublicKey]
) -> Checkpoint:
    """Returns the checkpoint, read if it came as a document; raises unless a trusted key signed it.

    1. The document is well-formed. 2. It names a trusted key, and that key signed it. 3. Its root
    is the one over its heads. That the heads are those of a ledger is for whoever has the ledger.
    """
    known = checkpoint if isinstance(checkpoint, Checkpoint) else checkpoint_from_json(checkpoint)
    signature = bytes.fromhex(known.signature)
    verify_with_trusted(known.key_id, signature, _signed_bytes(known), trusted)
    if heads_root(known.heads) != known.root:
        message = "the root is not the one over the heads"
        raise LedgerProblem(Code.CHECKPOINT, message, where=Where(field="root"))
    return known


def compare_checkpoints(old: Checkpoint, new: Checkpoint) -> tuple[Contradiction, ...]:
    """What can be said without the ledger against `new` being a later state of what `old` saw.

    Nothing found does not mean that one continues the other: a chain that grew may have been
    written anew below. That takes a consistency proof. The signatures are not looked at here.
    """
    if old.store_id != new.store_id:
        message = f"one is of the store `{old.store_id}`, the other of `{new.store_id}`"
        return (Contradiction(ContradictionKind.OTHER_STORE, None, message),)
    found = (_contradiction(before, new.head_of(before.writer)) for before in old.heads)
    return tuple(each for each in found if each is not None)


def _contradiction(old: Head, new: Head | None) -> Contradiction | None:
    name = f"the writer `{old.writer}`"
    if new is None:
        message = f"{name} had {old.size} events and is missing"
        return Contradiction(ContradictionKind.WRITER_MISSING, old.writer, message)
    if new.size < old.size:
        message = f"{name} had {old.size} events and now has {new.size}"
        return Contradiction(ContradictionKind.SIZE_WENT_BACK, old.writer, message)
    if new.size == old.size and new.last != old.last:
        message = f"event {old.size} of {name} was `{old.last}` and now is `{new.last}`"
        return Contradiction(ContradictionKind.OTHER_LAST, old.writer, message)
    if new.size == old.size and new.root != old.root:
        message = f"the {old.size} events of {name} are not the same ones"
        return Contradiction(ContradictionKind.OTHER_ROOT, old.writer, message)
    return None


def head_to_json(head: Head) -> dict[str, Json]:
    """The document form of a head."""
    return {"writer": head.writer, "size": head.size, "last": head.last, "root": head.root}


def head_from_json(document: object) -> Head:
    """Reads what `head_to_json` writes."""
    return Head(**read_object(document, _HEAD_FIELDS, Code.CHECKPOINT))


def checkpoint_to_json(checkpoint: Checkpoint) -> dict[str, Json]:
    """The document form."""
    return {
        "schema_version": checkpoint.schema_version,
        "kind": KIND,
        "checkpoint_id": checkpoint.checkpoint_id,
        "timestamp_utc": str(checkpoint.timestamp_utc),
        "store_id": checkpoint.store_id,
        "heads": [head_to_json(head) for head in checkpoint.heads],
        "root": checkpoint.root,
        "key_id": checkpoint.key_id,
        "signature": checkpoint.signature,
    }


def checkpoint_from_json(document: object) -> Checkpoint:
    """Reads what `checkpoint_to_json` writes; says nothing yet about who signed it."""
    values = read_object(document, ("kind", *_CHECKPOINT_FIELDS), Code.CHECKPOINT)
    check_constant("kind", values.pop("kind"), KIND, Code.CHECKPOINT)
    check_constant("schema_version", values["schema_version"], SCHEMA_VERSION, Code.CHECKPOINT)
    heads = []
    for index, each in enumerate(read_list("heads", values["heads"], Code.CHECKPOINT)):
        with placed(f"heads[{index}]", Code.CHECKPOINT):
            heads.append(head_from_json(each))
    instant = _read_time(values["timestamp_utc"])
    return Checkpoint(**{**values, "heads": tuple(heads), "timestamp_utc": instant})


def checkpoint_from_text(text: str | bytes) -> Checkpoint:
    """Reads a checkpoint file."""
    return checkpoint_from_json(parse_document(text, Code.CHECKPOINT))


def _signed_bytes(checkpoint: Checkpoint) -> bytes:
    document = checkpoint_to_json(checkpoint)
    del document["signature"]
    return SIGNING_DOMAIN + canonical_json(document)


def _read_time(value: object) -> Instant:
    check_text("timestamp_utc", value, Code.CHECKPOINT)
    with placed("timestamp_utc", Code.CHECKPOINT):
        instant = Instant.parse(str(value))
        if str(instant) != value:
            raise BadInput(Code.CHECKPOINT, f"`{value}` is not a time with milliseconds")
    return instant


def _check_key_id(key_id: str) -> None:
    if not key_id.startswith(KEY_ID_PREFIX):
        message = f"`{key_id}` is not the id of an Ed25519 key"
        raise BadInput(Code.CHECKPOINT, message, where=Where(field="key_id"))
    digits = key_id.removeprefix(KEY_ID_PREFIX)
    check_hex("key_id", digits, Code.CHECKPOINT, digits=KEY_ID_DIGITS)


_HEAD_FIELDS = tuple(each.name for each in fields(Head))
_CHECKPOINT_FIELDS = tuple(each.name for each in fields(Checkpoint))
