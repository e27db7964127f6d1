"""Checkpoints of this machine's ledger: taking one, and holding the ledger against one.

A checkpoint that is kept where the ledger's keeper cannot reach it shows that nothing it covers was
cut off, changed or put back from an older copy. Kept beside the ledger it shows nothing: whoever
holds the key can sign another history.
"""

from consentry.base.clock import Clock
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, UsageProblem
from consentry.base.ids import IdSource
from consentry.record.checkpoint import (
    Checkpoint,
    Head,
    checkpoint_from_text,
    make_checkpoint,
    make_head,
    verify_checkpoint,
)
from consentry.record.publickey import PublicKey
from consentry.service.audit import require_sound
from consentry.service.ledgers import ledger_for_reading, ledger_place
from consentry.service.surroundings import Surroundings
from consentry.service.userfiles import read_named
from consentry.store.history import History
from consentry.store.keyfile import load_key, open_key

KEY_NAME = "checkpoint-key"


def take_checkpoint(around: Surroundings, clock: Clock, ids: IdSource) -> Checkpoint:
    """Signs where every chain ends now, once all of them were followed and found whole."""
    history = ledger_for_reading(around)
    found = [] if history is None else require_sound(history)
    if history is None or not found:
        raise UsageProblem(
            Code.CHECKPOINT_EMPTY, "nothing was recorded here yet, so there is nothing to sign"
        )
    heads = [make_head(head.writer, history.hashes(head.writer, head.seq)) for head in found]
    key = open_key(ledger_place(around).folder / KEY_NAME)
    return make_checkpoint(heads, clock=clock, ids=ids, store_id=history.store_id(), signer=key)


def public_key(around: Surroundings) -> PublicKey:
    """This machine's public key, made with its private half on first use."""
    return open_key(ledger_place(around).folder / KEY_NAME).public


def kept_checkpoint(around: Surroundings, file: str, key_file: str | None) -> Checkpoint:
    """A checkpoint from a file, signed by the named key or by this machine's own."""
    if key_file is None:
        trusted = load_key(ledger_place(around).folder / KEY_NAME).public
    else:
        trusted = PublicKey.from_pem(read_named(key_file).decode("utf-8", "replace"))
    return verify_checkpoint(checkpoint_from_text(read_named(file)), trusted)


def require_continues(history: History | None, kept: Checkpoint) -> None:
    """Raises `chain-broken` unless the ledger still has all that the checkpoint saw."""
    when = f"the checkpoint of {kept.timestamp_utc}"
    if history is None:
        raise LedgerProblem(Code.CHAIN_BROKEN, f"the ledger is gone; {when} has seen it")
    if history.store_id() != kept.store_id:
        raise LedgerProblem(Code.CHECKPOINT, f"{when} is of another ledger, `{kept.store_id}`")
    for head in kept.heads:
        _require_head(history, head, when)


def _require_head(history: History, head: Head, when: str) -> None:
    size = sum(1 for _ in history.hashes(head.writer, head.size))
    if size < head.size:
        raise LedgerProblem(
            Code.CHAIN_BROKEN,
            f"event {size + 1} of `{head.writer}` is missing: {when} has seen {head.size}",
        )
    if make_head(head.writer, history.hashes(head.writer, head.size)) != head:
        raise LedgerProblem(
            Code.CHAIN_BROKEN,
            f"the first {head.size} events of `{head.writer}` are not those of {when}",
        )
